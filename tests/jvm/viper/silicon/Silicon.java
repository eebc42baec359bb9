package viper.silicon;

/** The class that is replaced. A result of its own shows that it was not. */
public class Silicon implements viper.silver.verifier.Verifier,
        com.typesafe.scalalogging.LazyLogging {
    public Silicon(viper.silver.reporter.Reporter reporter, scala.collection.immutable.Seq info) {}

    @Override
    public com.typesafe.scalalogging.Logger logger() {
        return null;
    }

    public final viper.silicon.logger.SymbExLogger symbExLog() {
        return null;
    }

    @Override
    public String name() {
        return "";
    }

    @Override
    public String version() {
        return "";
    }

    @Override
    public String buildVersion() {
        return "";
    }

    @Override
    public String copyright() {
        return "";
    }

    @Override
    public String signature() {
        return "";
    }

    @Override
    public void debugInfo(scala.collection.immutable.Seq info) {}

    @Override
    public scala.collection.immutable.Seq dependencies() {
        return scala.collection.immutable.Nil$.MODULE$;
    }

    @Override
    public void parseCommandLine(scala.collection.immutable.Seq arguments) {}

    @Override
    public void start() {}

    @Override
    public viper.silver.verifier.VerificationResult verify(viper.silver.ast.Program program) {
        return null;
    }

    @Override
    public void stop() {}

    @Override
    public viper.silver.reporter.Reporter reporter() {
        return null;
    }
}
