package scala;

public interface Option {}
