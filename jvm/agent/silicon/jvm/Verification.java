package silicon.jvm;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Verifies programs for one object of the class {@code viper.silicon.Silicon}.
 *
 * <p>The result is {@code Success} only if the process is there and has said so, in the record of
 * the run, and every member of the program was verified, and nothing was found.
 */
public final class Verification {
    private static final String SERVER = "viper.server.core.ViperBackend";
    /** A measure as Silver prints it; one that a plugin has taken out is a comment. */
    private static final Pattern MEASURE = Pattern.compile("(?m)^\\s*decreases\\b");

    private final Client client;
    private final Object reporter;
    private Options options = new Options(List.of());
    private Server server;

    /** `silicon` is the object; its class loader is the client's. */
    public Verification(Object silicon, Object reporter) {
        client = new Client(silicon.getClass().getClassLoader());
        this.reporter = reporter;
    }

    /**
     * Tells whether Silver's plugins have seen a program: a frontend of Silver asks, or ViperServer.
     *
     * <p>ViperServer may be told to leave plugins out. Then the measures are still there.
     */
    private boolean isBehindPlugins(Text text) {
        Class<?> frontend = client.type("viper.silver.frontend.Frontend");
        boolean isServed = !MEASURE.matcher(text.text).find();
        return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).walk(
                frames -> frames.map(StackWalker.StackFrame::getDeclaringClass).anyMatch(
                        type -> frontend.isAssignableFrom(type)
                                || isServed && type.getName().equals(SERVER)));
    }

    /** Takes the client's arguments, and gives the client its `Config`. */
    public Object configure(Object arguments) {
        List<String> words = new ArrayList<>();
        client.list(arguments).forEach(word -> words.add(String.valueOf(word)));
        options = new Options(words);
        Object config = client.make("viper.silicon.Config", arguments);
        // The reference's terms, in counterexamples, look there.
        client.call("viper.silicon.verifier.Verifier$",
                client.module("viper.silicon.verifier.Verifier"), "config_$eq", config);
        return config;
    }

    /** Starts the process, so that it is warm when it is needed. */
    public synchronized void start() {
        try {
            server();
        } catch (IOException notYet) {
            // That is said where something is to be verified.
        }
    }

    private Server server() throws IOException {
        if (server == null || !server.isThere()) {
            stop();
            server = new Server(Agent.command());
        }
        return server;
    }

    public void stop() {
        // Not synchronized: who stops does not wait for what is going on.
        Server old = server;
        server = null;
        if (old != null) {
            old.close();
        }
    }

    /** Verifies a program, and returns a `VerificationResult`. */
    public synchronized Object verify(Object program) {
        Heard heard = null;
        try {
            Text text = new Text(client, program);
            heard = new Heard(text, new Errors(client, text, program));
            Server process = server();
            process.verify("program.vpr", text.text, options.ours(isBehindPlugins(text)), heard);
            List<Object> errors = heard.errors();
            String doubt = heard.doubt(process.isThere());
            if (doubt != null && errors.isEmpty()) {
                throw new IOException(doubt);
            }
            return errors.isEmpty()
                    ? client.module("viper.silver.verifier.Success")
                    : client.make("viper.silver.verifier.Failure", client.seq(errors));
        } catch (IOException | RuntimeException | StackOverflowError problem) {
            // The next run has a new process.
            stop();
            return aborted(problem, heard);
        } catch (InterruptedException stopped) {
            stop();
            Thread.currentThread().interrupt();
            return aborted(stopped, heard);
        }
    }

    /** What was found until the process was lost, and that it was. */
    private Object aborted(Throwable problem, Heard heard) {
        List<Object> errors = heard == null ? new ArrayList<>() : heard.errors();
        errors.add(client.make("viper.silver.verifier.AbortedExceptionally", problem));
        return client.make("viper.silver.verifier.Failure", client.seq(errors));
    }

    /** What has been said of a program. */
    private final class Heard implements Server.Audience {
        private final Text text;
        private final Errors errors;
        /** Findings that have been told, in the order in which the reference tells them. */
        private final List<List<Object>> found = new ArrayList<>();
        private final List<Object> ofNoMember = new ArrayList<>();
        /** The members of the tree by kind and name, as lines have them. */
        private final Map<String, Integer> numbers = new HashMap<>();
        private final Set<String> expected = new HashSet<>();
        private final Set<String> verified = new HashSet<>();
        /** Findings whose member has not been told yet. */
        private final List<Map<String, Object>> pending = new ArrayList<>();
        private String planned;
        private Map<String, Object> file;
        private Map<String, Object> run;

        Heard(Text text, Errors errors) {
            this.text = text;
            this.errors = errors;
            for (Text.Member member : text.members) {
                numbers.put(key(member), found.size());
                found.add(new ArrayList<>());
                if (member.kind().equals("methods") || member.kind().equals("functions")
                        || member.kind().equals("predicates")) {
                    expected.add(key(member));
                }
            }
        }

        private String key(Text.Member member) {
            Object name = client.call("viper.silver.ast.Member", member.node(), "name");
            return member.kind().substring(0, member.kind().length() - 1) + " " + name;
        }

        @Override
        public boolean hear(Map<String, Object> line) {
            switch (String.valueOf(line.get("type"))) {
                case "members":
                    planned = String.valueOf(((List<?>) line.get("members")).size());
                    return false;
                case "diagnostic":
                    pending.add(line);
                    return false;
                case "member":
                    member(line);
                    return false;
                case "file":
                    place(null, "verified".equals(line.get("verdict")));
                    file = line;
                    return false;
                case "run":
                    run = line;
                    return true;
                default:
                    throw new IllegalArgumentException("an unknown line");
            }
        }

        /** A member is done; what was found in it has just been said. */
        private void member(Map<String, Object> line) {
            String key = line.get("kind") + " " + line.get("name");
            Integer number = numbers.get(key);
            boolean isVerified = "verified".equals(line.get("verdict"));
            List<Object> own = place(number, isVerified);
            if (isVerified) {
                verified.add(key);
            }
            if (number == null) {
                return;
            }
            Object node = text.members.get(number).node();
            long time = line.get("time_ms") instanceof Double ms ? ms.longValue() : 0L;
            Object message = isVerified && own.isEmpty()
                    ? client.make("viper.silver.reporter.EntitySuccessMessage",
                            "silicon", node, time, false)
                    : client.make("viper.silver.reporter.EntityFailureMessage", "silicon", node,
                            time, client.make("viper.silver.verifier.Failure", client.seq(own)),
                            false);
            client.call("viper.silver.reporter.Reporter", reporter, "report", message);
        }

        /** Makes errors of what has been said, and returns those of a member. */
        private List<Object> place(Integer number, boolean isVerified) {
            List<Object> own = new ArrayList<>();
            for (Map<String, Object> finding : pending) {
                if (isRemark(finding, isVerified)) {
                    continue;
                }
                Object error = errors.of(finding);
                options.contexts(client, errors, finding, error);
                (finding.get("member") == null || number == null ? ofNoMember : own).add(error);
            }
            pending.clear();
            if (number != null) {
                found.get(number).addAll(own);
            }
            return own;
        }

        /** Tells whether a finding leaves the verdict alone: it warns, and not of having given up. */
        private boolean isRemark(Map<String, Object> finding, boolean isVerified) {
            String id = String.valueOf(finding.get("id"));
            return "warning".equals(finding.get("severity"))
                    && (isVerified || id.endsWith(".warning"));
        }

        /** In the order of the reference: by place; functions, predicates and methods at one place. */
        List<Object> errors() {
            place(null, false);
            List<Object> all = new ArrayList<>(ofNoMember);
            for (String kind : List.of("domains", "fields", "functions", "predicates", "methods",
                    "extensions")) {
                for (int index = 0; index < found.size(); index++) {
                    if (text.members.get(index).kind().equals(kind)) {
                        all.addAll(found.get(index));
                    }
                }
            }
            all.sort(Comparator.comparing(this::line).thenComparing(this::column));
            return all;
        }

        private int line(Object error) {
            return position(error, "line");
        }

        private int column(Object error) {
            return position(error, "column");
        }

        private int position(Object error, String part) {
            Object shown = client.call(
                    "viper.silver.verifier.AbstractVerificationError", error, "transformedError");
            Object pos = client.call("viper.silver.verifier.AbstractError", shown, "pos");
            return client.is(pos, "viper.silver.ast.HasLineColumn")
                    ? (Integer) client.call("viper.silver.ast.HasLineColumn", pos, part) : -1;
        }

        /** Why this is no success; null if it is one. */
        String doubt(boolean isThere) {
            if (!isThere) {
                return "the process that verifies has ended";
            }
            if (run == null || file == null || planned == null) {
                return "the record of the run is not complete";
            }
            for (Map<String, Object> record : List.of(run, file)) {
                if (!"verified".equals(record.get("verdict"))
                        && !(expected.isEmpty() && "empty".equals(record.get("verdict")))) {
                    return "not verified: " + record.get("verdict");
                }
            }
            if (Boolean.TRUE.equals(run.get("interrupted"))) {
                return "the run was interrupted";
            }
            Object members = run.get("members");
            if (!(members instanceof Double count) || !count.equals(run.get("verified"))
                    || !planned.equals(Long.toString(count.longValue()))
                    || count.intValue() != verified.size()) {
                return "the members that were verified are not those that were counted";
            }
            Set<String> missing = new HashSet<>(expected);
            missing.removeAll(verified);
            missing.removeIf(options::leavesOut);
            return missing.isEmpty() ? null
                    : String.format(Locale.ROOT, "%d members were not verified", missing.size());
        }
    }
}
