package viper.silicon;

import scala.collection.immutable.Seq;
import viper.silver.reporter.Reporter;

public final class Silicon$ {
    public static final Silicon$ MODULE$ = null;

    public native Seq $lessinit$greater$default$2();

    public native Seq fromPartialCommandLineArguments$default$3();

    public native Silicon fromPartialCommandLineArguments(
            Seq arguments, Reporter reporter, Seq debugInfo);

    public native String dummyInputFilename();

    public native Seq optionsFromScalaTestConfigMap(scala.collection.Map map);

    public native String buildBranch();

    public native String buildRevision();

    public native String name();

    public native String version();

    public native String copyright();

    public native Seq dependencies();
}
