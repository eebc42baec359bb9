package viper.silicon.interfaces;

public class SiliconFailureContext {
    public SiliconFailureContext(
            scala.collection.immutable.Seq conditions, scala.Option state, scala.Option reason) {}
}
