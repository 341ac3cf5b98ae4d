package verb

// checks are the verbs of checks, and of the sets of addresses that their results name.
var checks = []Verb{}
