package silicon.jvm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The text that is verified: a program as Silver prints it, member by member. */
final class Text {
    /** The kinds of members, in the order of {@code Program.toString}. */
    private static final String[] KINDS =
        {"domains", "fields", "functions", "predicates", "methods", "extensions"};

    private static final String ELSE_IF = "elseif";
    private static final int ELSE = 4;

    final String text;
    /** In the order of the text. */
    final List<Member> members = new ArrayList<>();
    private final int[] lines;

    /** A member, and where it stands. */
    record Member(Object node, String kind, int start, int end) {}

    Text(Client client, Object program) {
        StringBuilder builder = new StringBuilder();
        for (String kind : KINDS) {
            for (Object node : client.list(client.call("viper.silver.ast.Program", program, kind))) {
                int start = builder.length();
                builder.append(node);
                members.add(new Member(node, kind, start, builder.length()));
                builder.append("\n\n");
            }
        }
        text = builder.toString();
        lines = starts(text);
    }

    private static int[] starts(String text) {
        int[] starts = new int[(int) text.chars().filter(c -> c == '\n').count() + 1];
        int count = 1;
        for (int index = 0; index < text.length(); index++) {
            if (text.charAt(index) == '\n') {
                starts[count++] = index + 1;
            }
        }
        return starts;
    }

    /** The offset of a position as findings have it: from 1, in characters. */
    int offset(Object position) {
        Map<?, ?> at = (Map<?, ?>) position;
        int line = ((Double) at.get("line")).intValue() - 1;
        int column = ((Double) at.get("column")).intValue() - 1;
        int start = lines[Math.min(Math.max(line, 0), lines.length - 1)];
        int end = line + 1 < lines.length ? lines[line + 1] : text.length();
        int count = text.codePointCount(start, end);
        return text.offsetByCodePoints(start, Math.min(Math.max(column, 0), count));
    }

    /** The member in which an offset lies, or the one before; null if there is none. */
    Member at(int offset) {
        Member found = null;
        for (Member member : members) {
            if (member.start <= offset) {
                found = member;
            }
        }
        return found;
    }

    /**
     * Cuts a text into tokens: names and numbers, and all other characters one by one. Blanks,
     * parentheses and comments are left out, since they depend on what stands around a node. So
     * does whether a conditional statement behind `else` is one word with it.
     */
    static Tokens tokens(String text) {
        Tokens tokens = new Tokens(text);
        int at = 0;
        while (at < text.length()) {
            char c = text.charAt(at);
            int end = at + 1;
            if (Character.isWhitespace(c) || c == '(' || c == ')') {
                at = end;
                continue;
            }
            if (text.startsWith("//", at)) {
                int line = text.indexOf('\n', at);
                at = line < 0 ? text.length() : line;
                continue;
            }
            if (text.startsWith("/*", at)) {
                int close = text.indexOf("*/", at + 2);
                at = close < 0 ? text.length() : close + 2;
                continue;
            }
            if (c == '"') {
                int close = text.indexOf('"', end);
                end = close < 0 ? text.length() : close + 1;
            } else if (Character.isJavaIdentifierPart(c)) {
                while (end < text.length() && Character.isJavaIdentifierPart(text.charAt(end))) {
                    end++;
                }
            }
            if (text.substring(at, end).equals(ELSE_IF)) {
                tokens.add(at, at + ELSE);
                at += ELSE;
            }
            tokens.add(at, end);
            at = end;
        }
        return tokens;
    }

    /** The number of tokens of the annotations in front of a node, as Silver prints them. */
    static int annotations(String text) {
        int end = 0;
        while (text.startsWith("@", end)) {
            int open = text.indexOf('(', end);
            int close = open + 1;
            boolean isQuoted = false;
            while (open >= 0 && close < text.length() && (isQuoted || text.charAt(close) != ')')) {
                isQuoted ^= text.charAt(close) == '"';
                close++;
            }
            if (open < 0 || close == text.length()) {
                break;
            }
            end = close + 1;
            while (end < text.length() && Character.isWhitespace(text.charAt(end))) {
                end++;
            }
        }
        return tokens(text.substring(0, end)).count;
    }

    /** The tokens of a text. */
    static final class Tokens {
        private final String text;
        private int[] starts = new int[16];
        private int[] ends = new int[16];
        int count;

        private Tokens(String text) {
            this.text = text;
        }

        private void add(int start, int end) {
            if (count == starts.length) {
                starts = Arrays.copyOf(starts, 2 * count);
                ends = Arrays.copyOf(ends, 2 * count);
            }
            starts[count] = start;
            ends[count++] = end;
        }

        /** The first token that begins at an offset or behind it. */
        int from(int offset) {
            int at = Arrays.binarySearch(starts, 0, count, offset);
            return at < 0 ? -at - 1 : at;
        }

        /** The first place from one token up to another one where the other tokens stand; -1: none. */
        int find(Tokens part, int from, int to) {
            for (int at = from; at + part.count <= to; at++) {
                if (stands(part, at)) {
                    return at;
                }
            }
            return -1;
        }

        private boolean stands(Tokens part, int at) {
            for (int index = 0; index < part.count; index++) {
                int length = part.ends[index] - part.starts[index];
                if (ends[at + index] - starts[at + index] != length
                        || !text.regionMatches(
                                starts[at + index], part.text, part.starts[index], length)) {
                    return false;
                }
            }
            return true;
        }
    }
}
