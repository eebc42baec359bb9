package viper.silver.reporter;

public class StdIOReporter implements Reporter {
    public StdIOReporter(String name, boolean timeInfo) {}

    @Override
    public String name() {
        return "";
    }

    @Override
    public void report(Message message) {}
}
