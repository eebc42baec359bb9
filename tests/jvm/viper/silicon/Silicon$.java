package viper.silicon;

public final class Silicon$ {
    public static final Silicon$ MODULE$ = new Silicon$();

    public scala.collection.immutable.Seq $lessinit$greater$default$2() {
        return scala.collection.immutable.Nil$.MODULE$;
    }

    public String dummyInputFilename() {
        return "none";
    }

    public String name() {
        return "Silicon";
    }

    public String version() {
        return "0";
    }

    public String copyright() {
        return "";
    }

    public scala.collection.immutable.Seq dependencies() {
        return scala.collection.immutable.Nil$.MODULE$;
    }
}
