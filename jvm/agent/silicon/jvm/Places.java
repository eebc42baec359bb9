package silicon.jvm;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The nodes of a program by their places in its text.
 *
 * <p>A node is an interval of tokens. Its own tokens are looked for in the interval of the node
 * around it, behind the node before it; so the places of nodes of the same text follow from their
 * order.
 */
final class Places {
    private final Client client;
    final Text text;
    /** Of the members that somebody has asked for. */
    private final Map<Text.Member, Member> placed = new HashMap<>();

    Places(Client client, Text text) {
        this.client = client;
        this.text = text;
    }

    /** A node, the interval of its tokens, and the node around it. */
    record Placed(Object node, int start, int end, Placed around) {
        private boolean holds(int from, int to) {
            return start <= from && to <= end;
        }

        private int length() {
            return end - start;
        }
    }

    /** A member whose nodes have their places. */
    static final class Member {
        final Text.Member member;
        private final Text.Tokens tokens;
        /** From the outside in, in the order of the text. */
        private final List<Placed> nodes = new ArrayList<>();

        private Member(Text.Member member, Text.Tokens tokens) {
            this.member = member;
            this.tokens = tokens;
        }
    }

    /** The member in which a finding lies. */
    Member member(Object place) {
        Text.Member member = text.at(text.offset(((Map<?, ?>) place).get("start")));
        return member == null ? null : placed.computeIfAbsent(member, this::place);
    }

    /** The nodes at a place: those that stand there, outermost first, and those around, smallest first. */
    List<Placed> at(Member member, Object place) {
        int shift = member.member.start();
        Map<?, ?> range = (Map<?, ?>) place;
        int from = member.tokens.from(text.offset(range.get("start")) - shift);
        int to = Math.max(member.tokens.from(text.offset(range.get("end")) - shift), from);
        List<Placed> there = new ArrayList<>();
        List<Placed> around = new ArrayList<>();
        for (Placed one : member.nodes) {
            if (one.start == from && one.end == to) {
                there.add(one);
            } else if (one.holds(from, to)) {
                around.add(one);
            }
        }
        // Nodes come from the outside in.
        Collections.reverse(around);
        around.sort(Comparator.comparingInt(Placed::length));
        there.addAll(around);
        return there;
    }

    private Member place(Text.Member member) {
        String own = text.text.substring(member.start(), member.end());
        Member placed = new Member(member, Text.tokens(own));
        Placed root = new Placed(member.node(), 0, placed.tokens.count, null);
        placed.nodes.add(root);
        placeBelow(placed, root, root);
        return placed;
    }

    /** Places the nodes below a node that may itself have no place; `around` has one. */
    private void placeBelow(Member member, Placed node, Placed around) {
        int from = around.start;
        for (Object child : inOrder(node.node)) {
            Text.Tokens own = Text.tokens(child.toString());
            int at = own.count == 0 ? -1 : member.tokens.find(own, from, around.end);
            if (at < 0 && own.count > 0) {
                at = member.tokens.find(own, around.start, around.end);
            }
            if (at < 0) {
                placeBelow(member, new Placed(child, from, around.end, around), around);
                continue;
            }
            // Findings lie at what stands behind annotations and before the type of a term.
            int start = at + Text.annotations(child.toString());
            int end = at + own.count - typed(child, own);
            Placed placed = new Placed(child, start, end, around);
            member.nodes.add(placed);
            from = Math.max(from, at + own.count);
            placeBelow(member, placed, placed);
        }
    }

    /** The tokens of the type that Silver prints behind an application of a generic function. */
    private int typed(Object node, Text.Tokens own) {
        if (!client.is(node, "viper.silver.ast.Exp")) {
            return 0;
        }
        Text.Tokens type =
                Text.tokens(":" + client.call("viper.silver.ast.Typed", node, "typ"));
        boolean isLast = type.count < own.count
                && own.find(type, own.count - type.count, own.count) >= 0;
        return isLast && isWrapped(node.toString()) ? type.count : 0;
    }

    /** Tells whether the parenthesis that opens a text is closed at its end. */
    private static boolean isWrapped(String text) {
        int depth = 0;
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (depth == 0) {
                return at > 0 && at == text.length() - 1;
            }
        }
        return false;
    }

    /** The nodes below a node but for types, in the order in which they are printed. */
    private List<Object> inOrder(Object node) {
        if (client.is(node, "viper.silver.ast.MethodCall")) {
            List<Object> all = new ArrayList<>(
                    client.list(client.call("viper.silver.ast.MethodCall", node, "targets")));
            all.addAll(client.list(client.call("viper.silver.ast.MethodCall", node, "args")));
            return all;
        }
        List<Object> all = client.subnodes(node);
        all.removeIf(one -> client.is(one, "viper.silver.ast.Type"));
        return all;
    }
}
