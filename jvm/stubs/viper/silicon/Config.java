package viper.silicon;

public class Config {}
