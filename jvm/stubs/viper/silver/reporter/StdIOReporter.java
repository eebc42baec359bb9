package viper.silver.reporter;

public class StdIOReporter implements Reporter {
    public StdIOReporter(String name, boolean timeInfo) {}

    @Override
    public native String name();

    @Override
    public native void report(Message message);
}
