package verb

// reactions are the verbs of what happens by itself: events, the triggers that react to them, and schedules.
var reactions = []Verb{}
