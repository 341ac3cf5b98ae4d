package store

func childMain() bool { return false }
