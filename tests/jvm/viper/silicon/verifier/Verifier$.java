package viper.silicon.verifier;

public final class Verifier$ {
    public static final Verifier$ MODULE$ = new Verifier$();

    public void config_$eq(viper.silicon.Config config) {}
}
