package askem.engines;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.PluginsLoader;

/**
 * Runs one Elasticsearch node until it is told to end: {@code StartNode <home> <config>}.
 *
 * <p>The home holds {@code lib}, {@code modules} and {@code plugins}; the config folder holds
 * {@code elasticsearch.yml}. The official distribution's own launcher is not among the packages.
 */
public final class StartNode {
    private StartNode() {}

    public static void main(String[] args) throws Exception {
        Path home = Path.of(args[0]).toAbsolutePath();
        Path config = Path.of(args[1]).toAbsolutePath();
        LogConfigurator.configureESLogging();
        Settings settings =
                Settings.builder()
                        .loadFromPath(config.resolve("elasticsearch.yml"))
                        .put("path.home", home.toString())
                        .build();
        LogConfigurator.configureWithoutConfig(settings);
        Environment environment = new Environment(settings, config);
        PluginsLoader plugins =
                PluginsLoader.createPluginsLoader(
                        PluginsLoader.loadModulesBundles(environment.modulesDir(), false),
                        PluginsLoader.loadPluginsBundles(environment.pluginsDir(), false),
                        Map.of());
        Node node = new Node(environment, plugins);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node), "close-node"));
        node.start();
        new CountDownLatch(1).await();
    }

    private static void close(Node node) {
        try {
            node.close();
        } catch (IOException failure) {
            System.err.println("closing the node failed: " + failure);
        }
    }
}
