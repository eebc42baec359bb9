package scala.collection.immutable;

public interface Seq {}
