package askem.engines;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

import org.apache.lucene.analysis.CharArraySet;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.en.EnglishMinimalStemFilter;
import org.apache.lucene.analysis.en.EnglishPossessiveFilter;
import org.apache.lucene.analysis.en.KStemFilter;
import org.apache.lucene.analysis.en.PorterStemFilter;
import org.apache.lucene.analysis.miscellaneous.PatternKeywordMarkerFilter;
import org.apache.lucene.analysis.miscellaneous.SetKeywordMarkerFilter;
import org.apache.lucene.analysis.miscellaneous.StemmerOverrideFilter;
import org.apache.lucene.analysis.snowball.SnowballFilter;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.index.analysis.Analysis;
import org.tartarus.snowball.ext.EnglishStemmer;

/** The stemmers for English, and what keeps words from them. */
final class Stemming {
    private Stemming() {}

    /** {@code stemmer}: its {@code english} is Porter's first stemmer, {@code porter2} the second. */
    static UnaryOperator<TokenStream> stemmer(Settings settings) {
        String language = settings.get("language", settings.get("name", "porter"));
        return switch (language.toLowerCase(Locale.ROOT)) {
            case "english", "porter" -> PorterStemFilter::new;
            case "porter2" -> in -> new SnowballFilter(in, new EnglishStemmer());
            case "light_english", "kstem" -> KStemFilter::new;
            case "minimal_english" -> EnglishMinimalStemFilter::new;
            case "possessive_english" -> EnglishPossessiveFilter::new;
            default -> throw unknown("stemmer", language);
        };
    }

    /** {@code snowball}: its {@code English}, the default, is Porter's second stemmer. */
    static UnaryOperator<TokenStream> snowball(Settings settings) {
        String language = settings.get("language", settings.get("name", "English"));
        return switch (language.toLowerCase(Locale.ROOT)) {
            case "english" -> in -> new SnowballFilter(in, new EnglishStemmer());
            case "porter" -> PorterStemFilter::new;
            default -> throw unknown("snowball", language);
        };
    }

    static UnaryOperator<TokenStream> keywordMarker(Environment environment, Settings settings) {
        String pattern = settings.get("keywords_pattern");
        Set<?> keywords = Analysis.getWordSet(environment, settings, "keywords");
        if ((pattern == null) == (keywords == null)) {
            throw new IllegalArgumentException(
                    "keyword_marker takes either keywords (or keywords_path) or keywords_pattern");
        }
        if (pattern != null) {
            Pattern compiled = Pattern.compile(pattern);
            return in -> new PatternKeywordMarkerFilter(in, compiled);
        }
        CharArraySet words = new CharArraySet(keywords, settings.getAsBoolean("ignore_case", false));
        return in -> new SetKeywordMarkerFilter(in, words);
    }

    /** {@code stemmer_override}: rules of the form {@code running, runs => run}. */
    static UnaryOperator<TokenStream> override(Environment environment, Settings settings) {
        List<String> rules = Analysis.getWordList(environment, settings, "rules");
        if (rules == null) {
            throw new IllegalArgumentException("stemmer_override takes rules or rules_path");
        }
        StemmerOverrideFilter.Builder builder = new StemmerOverrideFilter.Builder(false);
        for (String rule : rules) {
            String[] sides = rule.split("=>", -1);
            if (sides.length != 2 || sides[0].isBlank() || sides[1].isBlank() || sides[1].contains(",")) {
                throw new IllegalArgumentException("Invalid Keyword override Rule:" + rule);
            }
            for (String word : sides[0].split(",", -1)) {
                builder.add(word.strip(), sides[1].strip());
            }
        }
        try {
            StemmerOverrideFilter.StemmerOverrideMap map = builder.build();
            return in -> new StemmerOverrideFilter(in, map);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static IllegalArgumentException unknown(String filter, String language) {
        return new IllegalArgumentException(
                filter + " for [" + language + "] is not among what these engines for tests have");
    }
}
