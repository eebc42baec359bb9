package silicon.jvm;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.List;

/**
 * Puts our class in the place of {@code viper.silicon.Silicon} when a client loads that.
 *
 * <p>The argument of the agent is the path of the command {@code silicon}. Where the client's class
 * is not the one that we know how to replace, nothing is changed, and a line on standard error says
 * why.
 */
public final class Agent implements ClassFileTransformer {
    private static final String REPLACED = "viper/silicon/Silicon";
    /** Not a name of a class: nobody is to load it from here. */
    private static final String REPLACEMENT = "Silicon.bytes";

    private static volatile String command = "silicon";

    private Agent() {}

    public static void premain(String argument, Instrumentation instrumentation) {
        if (argument != null && !argument.isEmpty()) {
            command = argument;
        }
        instrumentation.addTransformer(new Agent());
    }

    /** The command that verifies. */
    static String command() {
        return command;
    }

    @Override
    public byte[] transform(
            ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
        if (!REPLACED.equals(name) || old != null) {
            return null;
        }
        try {
            byte[] replacement = replacement();
            List<String> misfits = Signatures.misfits(loader, bytes, replacement);
            if (misfits.isEmpty()) {
                return replacement;
            }
            complain("it is another one than is known: " + String.join("; ", misfits));
        } catch (IOException | RuntimeException | LinkageError problem) {
            complain(problem.toString());
        }
        return null;
    }

    private static byte[] replacement() throws IOException {
        try (InputStream stream = Agent.class.getResourceAsStream(REPLACEMENT)) {
            if (stream == null) {
                throw new IOException("the agent has no class to put in its place");
            }
            return stream.readAllBytes();
        }
    }

    private static void complain(String why) {
        System.err.println("silicon: viper.silicon.Silicon stays the reference's: " + why);
    }
}
