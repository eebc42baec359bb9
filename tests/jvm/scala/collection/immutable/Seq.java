package scala.collection.immutable;

public interface Seq extends scala.collection.IterableOnce {}
