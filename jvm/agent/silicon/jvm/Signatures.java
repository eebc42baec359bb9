package silicon.jvm;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/** Whether our class fits where a client's class was. */
final class Signatures {
    private static final String SEQ = "Lscala/collection/immutable/Seq;";
    private static final String STRING = "Ljava/lang/String;";

    /** A class of the client, and methods and constructors that the agent calls on it. */
    private record Needed(String type, String... methods) {}

    /** Each has to be there. */
    private static final List<Needed> NEEDED = List.of(
            new Needed("viper/silicon/Silicon$", "name()" + STRING, "version()" + STRING,
                    "copyright()" + STRING, "dependencies()" + SEQ,
                    "$lessinit$greater$default$2()" + SEQ, "dummyInputFilename()" + STRING),
            new Needed("viper/silicon/Config", "<init>(" + SEQ + ")V"),
            new Needed("viper/silicon/verifier/Verifier$",
                    "config_$eq(Lviper/silicon/Config;)V"),
            new Needed("viper/silicon/interfaces/SiliconFailureContext",
                    "<init>(" + SEQ + "Lscala/Option;Lscala/Option;)V"),
            new Needed("viper/silver/ast/Program", "domains()" + SEQ, "fields()" + SEQ,
                    "functions()" + SEQ, "predicates()" + SEQ, "methods()" + SEQ,
                    "extensions()" + SEQ),
            new Needed("viper/silver/ast/Node", "subnodes()" + SEQ),
            new Needed("viper/silver/ast/Member", "name()" + STRING),
            new Needed("viper/silver/ast/utility/Expressions$",
                    "instantiateVariables(Lviper/silver/ast/Exp;" + SEQ + SEQ
                            + ")Lviper/silver/ast/Exp;"),
            new Needed("viper/silver/frontend/Frontend"),
            new Needed("viper/silver/verifier/Success$"),
            new Needed("viper/silver/verifier/Failure", "<init>(" + SEQ + ")V"),
            new Needed("viper/silver/verifier/AbortedExceptionally",
                    "<init>(Ljava/lang/Throwable;)V"),
            new Needed("viper/silver/verifier/VerificationError",
                    "failureContexts_$eq(" + SEQ + ")V"),
            new Needed("viper/silver/verifier/errors$Internal",
                    "<init>(Lviper/silver/ast/Node;Lviper/silver/verifier/ErrorReason;Z)V"),
            new Needed("viper/silver/verifier/reasons$InternalReason",
                    "<init>(Lviper/silver/ast/Node;" + STRING + ")V"),
            new Needed("viper/silver/reporter/Reporter",
                    "report(Lviper/silver/reporter/Message;)V"),
            new Needed("viper/silver/reporter/EntitySuccessMessage",
                    "<init>(" + STRING + "Lviper/silver/ast/Member;JZ)V"),
            new Needed("viper/silver/reporter/EntityFailureMessage",
                    "<init>(" + STRING
                            + "Lviper/silver/ast/Member;JLviper/silver/verifier/Failure;Z)V"),
            new Needed("scala/collection/immutable/Nil$"),
            new Needed("scala/collection/immutable/$colon$colon"),
            new Needed("scala/None$"),
            new Needed("scala/Some"));

    private Signatures() {}

    /** Lists what the client's class has and ours has not, and what is not there. */
    static List<String> misfits(ClassLoader loader, byte[] theirs, byte[] ours)
            throws IOException {
        ClassFile known = new ClassFile(ours);
        ClassFile found = new ClassFile(theirs);
        List<String> misfits = new ArrayList<>();
        if (!found.superclass.equals(known.superclass)) {
            misfits.add("it extends " + found.superclass);
        }
        for (String one : found.interfaces) {
            if (!known.interfaces.contains(one)) {
                misfits.add("it implements " + one);
            }
        }
        for (String method : found.methods) {
            if (!known.methods.contains(method)) {
                misfits.add("it has " + method);
            }
        }
        ClassLoader at = loader == null ? ClassLoader.getSystemClassLoader() : loader;
        for (Needed needed : NEEDED) {
            try (InputStream bytes = at.getResourceAsStream(needed.type + ".class")) {
                if (bytes == null) {
                    misfits.add("there is no " + needed.type);
                    continue;
                }
                ClassFile type = new ClassFile(bytes.readAllBytes());
                for (String method : needed.methods) {
                    if (!type.methods.contains(method)) {
                        misfits.add(needed.type + " has no " + method);
                    }
                }
            }
        }
        if (at.getResource(Signatures.class.getName().replace('.', '/') + ".class") == null) {
            misfits.add("its loader does not find the agent");
        }
        return misfits;
    }
}
