package config

// ItemKinds is what a person can be told of.
var ItemKinds = itemKinds[:]
