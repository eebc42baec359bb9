package silicon.jvm;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Values of JSON: maps, lists, strings, numbers, truth values and null. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /**
     * Reads a value.
     *
     * @throws IllegalArgumentException if the text is none
     */
    static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value(0);
        json.blanks();
        if (json.at < text.length()) {
            throw json.wrong();
        }
        return value;
    }

    /** Writes a string. */
    static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int index = 0; index < text.length(); index++) {
            char c = text.charAt(index);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }

    /** Deeper values are none that we are sent. */
    private static final int DEPTH = 200;

    private Object value(int depth) {
        blanks();
        if (at >= text.length() || depth > DEPTH) {
            throw wrong();
        }
        switch (text.charAt(at)) {
            case '{': {
                Map<String, Object> map = new LinkedHashMap<>();
                at++;
                blanks();
                if (accept('}')) {
                    return map;
                }
                do {
                    blanks();
                    String key = string();
                    blanks();
                    expect(':');
                    map.put(key, value(depth + 1));
                    blanks();
                } while (accept(','));
                expect('}');
                return map;
            }
            case '[': {
                List<Object> list = new ArrayList<>();
                at++;
                blanks();
                if (accept(']')) {
                    return list;
                }
                do {
                    list.add(value(depth + 1));
                    blanks();
                } while (accept(','));
                expect(']');
                return list;
            }
            case '"':
                return string();
            default:
                return word();
        }
    }

    private Object word() {
        int start = at;
        while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(start, at);
        switch (word) {
            case "true":
                return true;
            case "false":
                return false;
            case "null":
                return null;
            default:
                try {
                    return Double.valueOf(word);
                } catch (NumberFormatException none) {
                    throw wrong();
                }
        }
    }

    private String string() {
        expect('"');
        StringBuilder string = new StringBuilder();
        while (true) {
            if (at >= text.length()) {
                throw wrong();
            }
            char c = text.charAt(at++);
            if (c == '"') {
                return string.toString();
            }
            string.append(c == '\\' ? escaped() : c);
        }
    }

    private char escaped() {
        if (at >= text.length()) {
            throw wrong();
        }
        char c = text.charAt(at++);
        switch (c) {
            case 'n':
                return '\n';
            case 't':
                return '\t';
            case 'r':
                return '\r';
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'u':
                if (at + 4 > text.length()) {
                    throw wrong();
                }
                at += 4;
                return (char) Integer.parseInt(text.substring(at - 4, at), 16);
            default:
                return c;
        }
    }

    private void blanks() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private boolean accept(char c) {
        boolean isThere = at < text.length() && text.charAt(at) == c;
        at += isThere ? 1 : 0;
        return isThere;
    }

    private void expect(char c) {
        if (!accept(c)) {
            throw wrong();
        }
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at " + at);
    }
}
