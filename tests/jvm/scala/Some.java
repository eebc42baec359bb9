package scala;

public record Some(Object value) implements Option {}
