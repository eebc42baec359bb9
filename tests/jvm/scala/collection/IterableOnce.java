package scala.collection;

public interface IterableOnce {
    Iterator iterator();
}
