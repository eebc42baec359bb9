package viper.silicon;

import com.typesafe.scalalogging.LazyLogging;
import com.typesafe.scalalogging.Logger;
import scala.collection.immutable.Seq;
import silicon.jvm.Verification;
import viper.silicon.logger.SymbExLogger;
import viper.silver.ast.Program;
import viper.silver.reporter.Reporter;
import viper.silver.reporter.StdIOReporter;
import viper.silver.verifier.VerificationResult;
import viper.silver.verifier.Verifier;

/**
 * The class in the place of the reference's. It has the same public face: constructors, methods,
 * and the methods of the companion object.
 */
public class Silicon implements Verifier, LazyLogging {
    private final Reporter reporter;
    private final Verification verification;
    private Config config;
    private SymbExLogger symbExLog;
    private Logger logger;

    public Silicon(Reporter reporter, Seq debugInfo) {
        this.reporter = reporter;
        this.verification = new Verification(this, reporter);
    }

    public Silicon(Seq debugInfo) {
        this(new StdIOReporter("stdout_reporter", true), debugInfo);
    }

    public Silicon() {
        this(Silicon$.MODULE$.$lessinit$greater$default$2());
    }

    public static Seq $lessinit$greater$default$2() {
        return Silicon$.MODULE$.$lessinit$greater$default$2();
    }

    public static Seq fromPartialCommandLineArguments$default$3() {
        return Silicon$.MODULE$.fromPartialCommandLineArguments$default$3();
    }

    public static Silicon fromPartialCommandLineArguments(Seq arguments, Reporter reporter, Seq debugInfo) {
        return Silicon$.MODULE$.fromPartialCommandLineArguments(arguments, reporter, debugInfo);
    }

    public static String dummyInputFilename() {
        return Silicon$.MODULE$.dummyInputFilename();
    }

    public static Seq optionsFromScalaTestConfigMap(scala.collection.Map map) {
        return Silicon$.MODULE$.optionsFromScalaTestConfigMap(map);
    }

    public static String buildBranch() {
        return Silicon$.MODULE$.buildBranch();
    }

    public static String buildRevision() {
        return Silicon$.MODULE$.buildRevision();
    }

    @Override
    public String signature() {
        return name() + " " + version();
    }

    @Override
    public synchronized Logger logger() {
        if (logger == null) {
            logger = com.typesafe.scalalogging.Logger$.MODULE$.apply(getClass().getName());
        }
        return logger;
    }

    @Override
    public Reporter reporter() {
        return reporter;
    }

    @Override
    public String name() {
        return Silicon$.MODULE$.name();
    }

    @Override
    public String version() {
        return Silicon$.MODULE$.version();
    }

    @Override
    public String buildVersion() {
        return String.valueOf(version());
    }

    @Override
    public String copyright() {
        return Silicon$.MODULE$.copyright();
    }

    @Override
    public Seq dependencies() {
        return Silicon$.MODULE$.dependencies();
    }

    public final Config config() {
        return config;
    }

    public final SymbExLogger symbExLog() {
        return symbExLog;
    }

    public final void symbExLog_$eq(SymbExLogger logger) {
        symbExLog = logger;
    }

    @Override
    public void parseCommandLine(Seq arguments) {
        config = (Config) verification.configure(arguments);
    }

    @Override
    public void debugInfo(Seq debugInfo) {
        // It is of the reference's own logs.
    }

    @Override
    public void start() {
        verification.start();
    }

    @Override
    public void stop() {
        verification.stop();
    }

    @Override
    public VerificationResult verify(Program program) {
        return (VerificationResult) verification.verify(program);
    }

    public VerificationResult verify(Program program, Seq cfgs) {
        return verify(program);
    }
}
