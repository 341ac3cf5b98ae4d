package keyring

// system is the keyring of this platform: none that is known.
func system(Options) platform { return nil }
