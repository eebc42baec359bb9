package viper.silver.reporter;

public interface Reporter {
    String name();

    void report(Message message);
}
