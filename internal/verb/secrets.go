package verb

// secrets are the verbs of secrets, of which no answer ever holds a value.
var secrets = []Verb{}
