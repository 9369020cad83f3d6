"""The agent service: `/react`, answers composed over `/hybrid`."""
