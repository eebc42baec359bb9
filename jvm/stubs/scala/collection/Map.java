package scala.collection;

public interface Map {}
