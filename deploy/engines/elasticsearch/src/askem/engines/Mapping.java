package askem.engines;

import java.io.Reader;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.lucene.analysis.charfilter.MappingCharFilter;
import org.apache.lucene.analysis.charfilter.NormalizeCharMap;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.index.analysis.Analysis;

/** Rules {@code left => right}, and the char filter {@code mapping} that is made of them. */
final class Mapping {
    private static final Pattern RULE = Pattern.compile("(.*)\\s*=>\\s*(.*)\\s*$", Pattern.DOTALL);
    private static final Pattern ESCAPE = Pattern.compile("\\\\(u[0-9a-fA-F]{4}|.)", Pattern.DOTALL);

    private Mapping() {}

    static UnaryOperator<Reader> charFilter(Environment environment, Settings settings) {
        List<String> rules = Analysis.getWordList(environment, settings, "mappings");
        if (rules == null) {
            throw new IllegalArgumentException("mapping requires either `mappings` or `mappings_path`");
        }
        NormalizeCharMap.Builder builder = new NormalizeCharMap.Builder();
        for (String rule : rules) {
            String[] sides = split(rule);
            builder.add(sides[0], sides[1]);
        }
        NormalizeCharMap map = builder.build();
        return in -> new MappingCharFilter(map, in);
    }

    /** Both sides of a rule, trimmed, escapes such as {@code \\u0020} and {@code \\n} resolved. */
    static String[] split(String rule) {
        Matcher matcher = RULE.matcher(rule);
        if (!matcher.find()) {
            throw new IllegalArgumentException("Invalid Mapping Rule : [" + rule + "]");
        }
        return new String[] {unescape(matcher.group(1).strip()), unescape(matcher.group(2).strip())};
    }

    private static String unescape(String text) {
        return ESCAPE.matcher(text).replaceAll(match -> Matcher.quoteReplacement(resolve(match.group(1))));
    }

    private static String resolve(String escape) {
        if (escape.length() == 5) {
            return String.valueOf((char) Integer.parseInt(escape.substring(1), 16));
        }
        return switch (escape) {
            case "n" -> "\n";
            case "t" -> "\t";
            case "r" -> "\r";
            case "b" -> "\b";
            case "f" -> "\f";
            default -> escape;
        };
    }
}
