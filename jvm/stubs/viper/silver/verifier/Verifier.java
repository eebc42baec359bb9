package viper.silver.verifier;

import scala.collection.immutable.Seq;
import viper.silver.ast.Program;
import viper.silver.reporter.Reporter;

public interface Verifier {
    String name();

    String version();

    String buildVersion();

    String copyright();

    String signature();

    void debugInfo(Seq debugInfo);

    Seq dependencies();

    void parseCommandLine(Seq arguments);

    void start();

    VerificationResult verify(Program program);

    void stop();

    Reporter reporter();
}
