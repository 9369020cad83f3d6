package askem.engines;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

import org.apache.lucene.analysis.CharArraySet;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.miscellaneous.WordDelimiterFilter;
import org.apache.lucene.analysis.miscellaneous.WordDelimiterGraphFilter;
import org.apache.lucene.analysis.miscellaneous.WordDelimiterIterator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.index.analysis.Analysis;

/** {@code word_delimiter_graph} and its older brother: SARS-CoV-2 to its parts, or kept with them. */
final class WordDelimiter {
    /** Parameters with default true, then those with default false. Both filters have the same bits. */
    private static final Map<String, Integer> ON = Map.of(
            "generate_word_parts", WordDelimiterGraphFilter.GENERATE_WORD_PARTS,
            "generate_number_parts", WordDelimiterGraphFilter.GENERATE_NUMBER_PARTS,
            "split_on_case_change", WordDelimiterGraphFilter.SPLIT_ON_CASE_CHANGE,
            "split_on_numerics", WordDelimiterGraphFilter.SPLIT_ON_NUMERICS,
            "stem_english_possessive", WordDelimiterGraphFilter.STEM_ENGLISH_POSSESSIVE);

    private static final Map<String, Integer> OFF = Map.of(
            "catenate_words", WordDelimiterGraphFilter.CATENATE_WORDS,
            "catenate_numbers", WordDelimiterGraphFilter.CATENATE_NUMBERS,
            "catenate_all", WordDelimiterGraphFilter.CATENATE_ALL,
            "preserve_original", WordDelimiterGraphFilter.PRESERVE_ORIGINAL,
            "ignore_keywords", WordDelimiterGraphFilter.IGNORE_KEYWORDS);

    private static final Map<String, Integer> TYPES = Map.of(
            "LOWER", 0x01, "UPPER", 0x02, "ALPHA", 0x03, "DIGIT", 0x04, "ALPHANUM", 0x07, "SUBWORD_DELIM", 0x08);

    private WordDelimiter() {}

    static UnaryOperator<TokenStream> graph(Environment environment, Settings settings) {
        boolean adjustOffsets = settings.getAsBoolean("adjust_offsets", true);
        byte[] types = types(environment, settings);
        int flags = flags(settings);
        CharArraySet kept = kept(environment, settings);
        return in -> new WordDelimiterGraphFilter(in, adjustOffsets, types, flags, kept);
    }

    @SuppressWarnings("deprecation") // as the official one is
    static UnaryOperator<TokenStream> plain(Environment environment, Settings settings) {
        byte[] types = types(environment, settings);
        int flags = flags(settings);
        CharArraySet kept = kept(environment, settings);
        return in -> new WordDelimiterFilter(in, types, flags, kept);
    }

    private static int flags(Settings settings) {
        int flags = 0;
        for (var flag : ON.entrySet()) {
            flags |= settings.getAsBoolean(flag.getKey(), true) ? flag.getValue() : 0;
        }
        for (var flag : OFF.entrySet()) {
            flags |= settings.getAsBoolean(flag.getKey(), false) ? flag.getValue() : 0;
        }
        return flags;
    }

    private static CharArraySet kept(Environment environment, Settings settings) {
        Set<?> words = Analysis.getWordSet(environment, settings, "protected_words");
        return words == null ? null : CharArraySet.copy(words);
    }

    /** The kind of each character, with {@code type_table}'s rules such as {@code - => ALPHA}. */
    private static byte[] types(Environment environment, Settings settings) {
        List<String> rules = Analysis.getWordList(environment, settings, "type_table");
        byte[] types = WordDelimiterIterator.DEFAULT_WORD_DELIM_TABLE;
        if (rules == null) {
            return types;
        }
        types = types.clone();
        for (String rule : rules) {
            String[] sides = Mapping.split(rule);
            Integer type = TYPES.get(sides[1]);
            if (sides[0].length() != 1 || type == null) {
                throw new IllegalArgumentException("Invalid Mapping Rule : [" + rule + "]");
            }
            types = with(types, sides[0].charAt(0), type.byteValue());
        }
        return types;
    }

    private static byte[] with(byte[] types, char character, byte type) {
        byte[] wider = Arrays.copyOf(types, Math.max(types.length, character + 1));
        for (int added = types.length; added < wider.length; added++) {
            wider[added] = WordDelimiterIterator.getType(added);
        }
        wider[character] = type;
        return wider;
    }
}
