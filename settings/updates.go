package settings

import "termic/internal/release"

// ofReleases are the settings of [updates], the last of Table.
func ofReleases() []Setting {
	return []Setting{
		{Key: "updates.check", Kind: Bool, Default: false,
			Doc:   "Whether the app asks once a day whether there is a newer release. It tells; it never replaces itself.",
			field: func(s *Settings) any { return &s.Updates.Check }},
		{Key: "updates.address", Kind: Text, Default: "", Max: 1024,
			Doc:   "Address that is asked for the feed of releases; its signature lies beside it, with .sig behind its name. Nothing is sent but the request. Empty: the address that the build names, if it names one.",
			field: func(s *Settings) any { return &s.Updates.Address }, check: updateAddress},
		{Key: "updates.key", Kind: Text, Default: "", Max: 1024,
			Doc:   "Public key of ssh that the feed must be signed by, such as the text of a file release_ed25519.pub. Empty: the key that the build has, if it has one.",
			field: func(s *Settings) any { return &s.Updates.Key }, check: updateKey},
	}
}

// updateAddress refuses what is not asked.
func updateAddress(text string) string {
	if text == "" {
		return ""
	}
	return release.AddressProblem(text)
}

// updateKey refuses what is no key that could have signed.
func updateKey(text string) string {
	if text == "" {
		return ""
	}
	if _, err := release.ParseKey(text); err != nil {
		return "is not taken: " + err.Error()
	}
	return oneLine(text)
}
