package askem.engines;

import static org.elasticsearch.plugins.AnalysisPlugin.requiresAnalysisSettings;

import java.io.Reader;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.CharArraySet;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.charfilter.HTMLStripCharFilter;
import org.apache.lucene.analysis.core.DecimalDigitFilter;
import org.apache.lucene.analysis.core.FlattenGraphFilter;
import org.apache.lucene.analysis.core.KeywordTokenizer;
import org.apache.lucene.analysis.core.LetterTokenizer;
import org.apache.lucene.analysis.core.UpperCaseFilter;
import org.apache.lucene.analysis.core.WhitespaceTokenizer;
import org.apache.lucene.analysis.email.UAX29URLEmailTokenizer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.analysis.en.KStemFilter;
import org.apache.lucene.analysis.en.PorterStemFilter;
import org.apache.lucene.analysis.miscellaneous.ASCIIFoldingFilter;
import org.apache.lucene.analysis.miscellaneous.KeywordRepeatFilter;
import org.apache.lucene.analysis.miscellaneous.LengthFilter;
import org.apache.lucene.analysis.miscellaneous.LimitTokenCountFilter;
import org.apache.lucene.analysis.miscellaneous.RemoveDuplicatesTokenFilter;
import org.apache.lucene.analysis.miscellaneous.TrimFilter;
import org.apache.lucene.analysis.miscellaneous.TruncateTokenFilter;
import org.apache.lucene.analysis.pattern.PatternCaptureGroupTokenFilter;
import org.apache.lucene.analysis.pattern.PatternReplaceCharFilter;
import org.apache.lucene.analysis.pattern.PatternReplaceFilter;
import org.apache.lucene.analysis.pattern.PatternTokenizer;
import org.elasticsearch.common.regex.Regex;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.index.analysis.AbstractCharFilterFactory;
import org.elasticsearch.index.analysis.AbstractIndexAnalyzerProvider;
import org.elasticsearch.index.analysis.AbstractTokenFilterFactory;
import org.elasticsearch.index.analysis.Analysis;
import org.elasticsearch.index.analysis.AnalyzerProvider;
import org.elasticsearch.index.analysis.CharFilterFactory;
import org.elasticsearch.index.analysis.NormalizingCharFilterFactory;
import org.elasticsearch.index.analysis.NormalizingTokenFilterFactory;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.index.analysis.TokenizerFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.elasticsearch.plugins.Plugin;

/**
 * The analyzers, tokenizers and filters for English text that the official distribution has in its
 * analysis-common module, which is not among the packages. Names, parameters and defaults are the
 * documented ones, so that a mapping made here works unchanged there; the work is Lucene's.
 */
public final class EnglishAnalysisPlugin extends Plugin implements AnalysisPlugin {

    /** Makes a filter from the environment (for word lists in files) and its settings. */
    private interface FilterMaker {
        UnaryOperator<TokenStream> make(Environment environment, Settings settings);
    }

    @Override
    public Map<String, AnalysisProvider<AnalyzerProvider<? extends Analyzer>>> getAnalyzers() {
        return Map.of("english", (index, environment, name, settings) -> english(environment, name, settings));
    }

    @Override
    public Map<String, AnalysisProvider<TokenizerFactory>> getTokenizers() {
        return Map.of(
                "keyword", tokenizer(s -> () -> new KeywordTokenizer(s.getAsInt("buffer_size", 256))),
                "letter", tokenizer(s -> LetterTokenizer::new),
                "pattern", tokenizer(EnglishAnalysisPlugin::patternTokenizer),
                "uax_url_email", tokenizer(EnglishAnalysisPlugin::urlTokenizer),
                "whitespace", tokenizer(s -> () -> new WhitespaceTokenizer(maxTokenLength(s))));
    }

    @Override
    public Map<String, AnalysisProvider<CharFilterFactory>> getCharFilters() {
        return Map.of(
                "html_strip", EnglishAnalysisPlugin::htmlStrip,
                "mapping", requiresAnalysisSettings(charFilter(Mapping::charFilter)),
                "pattern_replace", requiresAnalysisSettings(charFilter(EnglishAnalysisPlugin::patternReplaceChars)));
    }

    @Override
    public Map<String, AnalysisProvider<TokenFilterFactory>> getTokenFilters() {
        Map<String, AnalysisProvider<TokenFilterFactory>> filters = new HashMap<>();
        filters.put("asciifolding", EnglishAnalysisPlugin::asciiFolding);
        filters.put("decimal_digit", normalizing((e, s) -> DecimalDigitFilter::new));
        filters.put("trim", normalizing((e, s) -> TrimFilter::new));
        filters.put("uppercase", normalizing((e, s) -> UpperCaseFilter::new));
        filters.put("pattern_replace", requiresAnalysisSettings(normalizing((e, s) -> patternReplace(s))));
        filters.put("flatten_graph", filter((e, s) -> FlattenGraphFilter::new));
        filters.put("keyword_repeat", filter((e, s) -> KeywordRepeatFilter::new));
        filters.put("kstem", filter((e, s) -> KStemFilter::new));
        filters.put("length", filter((e, s) -> length(s)));
        filters.put("limit", filter((e, s) -> limit(s)));
        filters.put("porter_stem", filter((e, s) -> PorterStemFilter::new));
        filters.put("remove_duplicates", filter((e, s) -> RemoveDuplicatesTokenFilter::new));
        filters.put("snowball", filter((e, s) -> Stemming.snowball(s)));
        filters.put("stemmer", filter((e, s) -> Stemming.stemmer(s)));
        filters.put("word_delimiter", filter(WordDelimiter::plain));
        filters.put("word_delimiter_graph", filter(WordDelimiter::graph));
        filters.put("keyword_marker", requiresAnalysisSettings(filter(Stemming::keywordMarker)));
        filters.put("stemmer_override", requiresAnalysisSettings(filter(Stemming::override)));
        filters.put("pattern_capture", requiresAnalysisSettings(filter((e, s) -> patternCapture(s))));
        filters.put("truncate", requiresAnalysisSettings(filter((e, s) -> truncate(s))));
        return filters;
    }

    private static AnalyzerProvider<EnglishAnalyzer> english(Environment environment, String name, Settings settings) {
        CharArraySet stopWords = Analysis.parseStopWords(environment, settings, EnglishAnalyzer.getDefaultStopSet());
        CharArraySet unstemmed = Analysis.parseStemExclusion(settings, CharArraySet.EMPTY_SET);
        EnglishAnalyzer analyzer = new EnglishAnalyzer(stopWords, unstemmed);
        return new AbstractIndexAnalyzerProvider<>(name) {
            @Override
            public EnglishAnalyzer get() {
                return analyzer;
            }
        };
    }

    private static TokenFilterFactory asciiFolding(
            Object index, Environment environment, String name, Settings settings) {
        boolean preserve = settings.getAsBoolean("preserve_original", false);
        return new NormalizingFilter(name, in -> new ASCIIFoldingFilter(in, preserve)) {
            @Override
            public TokenStream normalize(TokenStream in) {
                // A normalizer has one token: the folded one.
                return new ASCIIFoldingFilter(in, false);
            }
        };
    }

    private static UnaryOperator<TokenStream> length(Settings settings) {
        int min = settings.getAsInt("min", 0);
        int max = settings.getAsInt("max", Integer.MAX_VALUE);
        return in -> new LengthFilter(in, min, max);
    }

    private static UnaryOperator<TokenStream> limit(Settings settings) {
        int count = settings.getAsInt("max_token_count", 1);
        boolean consumeAll = settings.getAsBoolean("consume_all_tokens", false);
        return in -> new LimitTokenCountFilter(in, count, consumeAll);
    }

    private static UnaryOperator<TokenStream> truncate(Settings settings) {
        int length = settings.getAsInt("length", -1);
        if (length <= 0) {
            throw new IllegalArgumentException("length parameter must be provided");
        }
        return in -> TruncateTokenFilter.truncateAfterChars(in, length);
    }

    private static UnaryOperator<TokenStream> patternReplace(Settings settings) {
        Pattern pattern = Regex.compile(required(settings, "pattern"), settings.get("flags"));
        String replacement = settings.get("replacement", "");
        boolean all = settings.getAsBoolean("all", true);
        return in -> new PatternReplaceFilter(in, pattern, replacement, all);
    }

    private static UnaryOperator<TokenStream> patternCapture(Settings settings) {
        required(settings, "patterns");
        Pattern[] patterns = settings.getAsList("patterns").stream()
                .map(Pattern::compile)
                .toArray(Pattern[]::new);
        boolean preserve = settings.getAsBoolean("preserve_original", true);
        return in -> new PatternCaptureGroupTokenFilter(in, preserve, patterns);
    }

    private static UnaryOperator<Reader> patternReplaceChars(Environment environment, Settings settings) {
        Pattern pattern = Regex.compile(required(settings, "pattern"), settings.get("flags"));
        String replacement = settings.get("replacement", "");
        return in -> new PatternReplaceCharFilter(pattern, replacement, in);
    }

    private static CharFilterFactory htmlStrip(Object index, Environment environment, String name, Settings settings) {
        List<String> escaped = settings.getAsList("escaped_tags");
        UnaryOperator<Reader> strip = escaped.isEmpty()
                ? HTMLStripCharFilter::new
                : in -> new HTMLStripCharFilter(in, Set.copyOf(escaped));
        return new PlainCharFilter(name, strip);
    }

    private static Supplier<Tokenizer> patternTokenizer(Settings settings) {
        Pattern pattern = Regex.compile(settings.get("pattern", "\\W+"), settings.get("flags"));
        int group = settings.getAsInt("group", -1);
        return () -> new PatternTokenizer(pattern, group);
    }

    private static Supplier<Tokenizer> urlTokenizer(Settings settings) {
        int length = maxTokenLength(settings);
        return () -> {
            UAX29URLEmailTokenizer tokenizer = new UAX29URLEmailTokenizer();
            tokenizer.setMaxTokenLength(length);
            return tokenizer;
        };
    }

    private static int maxTokenLength(Settings settings) {
        return settings.getAsInt("max_token_length", 255);
    }

    static String required(Settings settings, String key) {
        if (settings.get(key) == null && settings.getAsList(key).isEmpty()) {
            throw new IllegalArgumentException(key + " is missing");
        }
        return settings.get(key);
    }

    private static AnalysisProvider<TokenizerFactory> tokenizer(Function<Settings, Supplier<Tokenizer>> maker) {
        return (index, environment, name, settings) -> TokenizerFactory.newFactory(name, maker.apply(settings));
    }

    private static AnalysisProvider<TokenFilterFactory> filter(FilterMaker maker) {
        return (index, environment, name, settings) -> new Filter(name, maker.make(environment, settings));
    }

    /** As {@link #filter}, for a filter that may also stand in the normalizer of a keyword field. */
    private static AnalysisProvider<TokenFilterFactory> normalizing(FilterMaker maker) {
        return (index, environment, name, settings) -> new NormalizingFilter(name, maker.make(environment, settings));
    }

    private static AnalysisProvider<CharFilterFactory> charFilter(
            BiFunction<Environment, Settings, UnaryOperator<Reader>> maker) {
        return (index, environment, name, settings) ->
                new NormalizingCharFilter(name, maker.apply(environment, settings));
    }

    private static class Filter extends AbstractTokenFilterFactory {
        private final UnaryOperator<TokenStream> make;

        Filter(String name, UnaryOperator<TokenStream> make) {
            super(name);
            this.make = make;
        }

        @Override
        public TokenStream create(TokenStream in) {
            return make.apply(in);
        }
    }

    private static class NormalizingFilter extends Filter implements NormalizingTokenFilterFactory {
        NormalizingFilter(String name, UnaryOperator<TokenStream> make) {
            super(name, make);
        }
    }

    private static class PlainCharFilter extends AbstractCharFilterFactory {
        private final UnaryOperator<Reader> make;

        PlainCharFilter(String name, UnaryOperator<Reader> make) {
            super(name);
            this.make = make;
        }

        @Override
        public Reader create(Reader in) {
            return make.apply(in);
        }
    }

    private static class NormalizingCharFilter extends PlainCharFilter implements NormalizingCharFilterFactory {
        NormalizingCharFilter(String name, UnaryOperator<Reader> make) {
            super(name, make);
        }
    }
}
