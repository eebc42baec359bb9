package viper.silicon;

public class Config {
    public Config(scala.collection.immutable.Seq arguments) {}
}
