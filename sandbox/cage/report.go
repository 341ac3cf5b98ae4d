package cage

// Report says what this machine can do, found by doing it.
type Report struct {
	Enforce   bool  // a cage with its own network starts
	EnforceFs bool  // a cage on the host's network starts
	Problem   error // why Enforce is false: a fault.Error with the cause and the fix
	ProblemFs error // why EnforceFs is false

	Kernel     string      // release
	LSMs       []string    // security modules that are active, in order; empty if unknown
	Holds      Enforcement // of the cage that was tried
	HelperPath string
}
