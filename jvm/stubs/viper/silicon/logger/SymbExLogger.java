package viper.silicon.logger;

public class SymbExLogger {}
