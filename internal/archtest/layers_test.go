package archtest

// A layer is a floor of the house. A package imports its own floor only where the table says so, and
// never a floor above.
type layer int

const (
	leaf      layer = iota // standard library and system calls; words and small mechanics
	mechanism              // one ability each, unaware of the others
	domain                 // internal/core, the only orchestrator
	verbs                  // internal/verb, the table and the one way in
	presenter              // turns calls into a face: text, a socket, HTTP
	root                   // app, where everything is put together
	program                // the binary: argv only
	kit                    // what tests and measures are made of; in no release
)

func (l layer) String() string {
	return [...]string{"leaf", "mechanism", "domain", "verbs", "presenter", "root", "program", "kit"}[l]
}

// allowed says for each layer which layers it may import. What is not here is refused, with the
// reason from refused.
var allowed = map[layer][]layer{
	leaf:      {leaf},
	mechanism: {leaf},
	domain:    {leaf, mechanism},
	verbs:     {leaf, mechanism, domain},
	presenter: {leaf, mechanism, domain, verbs, presenter}, // narrowed for each one by its row
	root:      {leaf, mechanism, domain, verbs, presenter},
	program:   {leaf, mechanism, presenter, root},
	kit:       {leaf, mechanism, domain, verbs, presenter, root, kit},
}

// refused gives the reason for every pair of layers that is not allowed; a test holds it complete.
var refused = map[layer]map[layer]string{
	leaf: {
		mechanism: "a leaf is used by all mechanisms, so it may know none of them",
		domain:    "a leaf knows no tasks",
		verbs:     "a leaf knows no verbs",
		presenter: "a leaf has no face",
		root:      "a leaf does not know who puts the app together",
		program:   "a leaf does not know the program",
		kit:       "test equipment stays out of the product",
	},
	mechanism: {
		mechanism: "mechanisms do not know one another: what needs two of them belongs into internal/core",
		domain:    "a mechanism offers one ability; when to use it is decided above it, in internal/core",
		verbs:     "a mechanism does not call verbs; a verb ends in a mechanism",
		presenter: "a mechanism has no face",
		root:      "a mechanism is given what it needs; it does not reach for the app",
		program:   "a mechanism does not know the program",
		kit:       "test equipment stays out of the product",
	},
	domain: {
		domain:    "there is one orchestrator, so that an order of steps is written down in one place",
		verbs:     "verbs call the domain; the other way round a rule could be passed by",
		presenter: "the domain does not know who is looking",
		root:      "the domain is given what it needs",
		program:   "the domain does not know the program",
		kit:       "test equipment stays out of the product",
	},
	verbs: {
		verbs:     "there is one table of verbs and one dispatcher",
		presenter: "a verb gives the same answer on every face, so it may not know which one asks",
		root:      "the dispatcher is given what it needs",
		program:   "the dispatcher does not know the program",
		kit:       "test equipment stays out of the product",
	},
	presenter: {
		root:    "a face is put together by the app, not the other way round",
		program: "a face does not know the program",
		kit:     "test equipment stays out of the product",
	},
	root: {
		root:    "there is one place where the app is put together",
		program: "the app does not know the program that starts it",
		kit:     "test equipment stays out of the product",
	},
	program: {
		domain:  "main only reads argv; what it starts is put together in app",
		verbs:   "main only reads argv; verbs are called through a face",
		program: "there is one program",
		kit:     "test equipment stays out of the product",
	},
	kit: {
		program: "the program is tested by running it",
	},
}

// A row places one package. only, when it is not nil, narrows what the layer allows to these packages
// and the leaves.
type row struct {
	pkg     string
	in      layer
	only    []string
	planned bool // a later stage brings it; the row is there so that its walls stand first
}

// table is every package of the module. A package that is not here fails the test, and so does a row
// whose package does not exist.
var table = []row{
	{pkg: ".", in: program},
	{pkg: "sandbox/cmd/termic-cage", in: program}, // the helper of a cage, a program of its own

	{pkg: "app", in: root},

	{pkg: "app/webface", in: presenter, only: []string{"internal/core", "internal/grant", "internal/verb"}}, // core: what a live terminal is
	{pkg: "internal/cli", in: presenter, only: []string{"internal/control", "internal/verb"}},
	{pkg: "internal/control", in: presenter, only: []string{"internal/grant", "internal/verb"}},
	{pkg: "mcp", in: presenter, only: []string{"internal/grant", "internal/verb"}},
	{pkg: "web", in: presenter, only: []string{"internal/grant", "internal/verb"}},

	{pkg: "internal/verb", in: verbs},

	{pkg: "internal/core", in: domain},

	{pkg: "internal/agent", in: mechanism},
	{pkg: "internal/agenthome", in: mechanism},
	{pkg: "internal/check", in: mechanism},
	{pkg: "internal/grant", in: mechanism},
	{pkg: "internal/keyring", in: mechanism},
	{pkg: "internal/ptyhost", in: mechanism},
	{pkg: "internal/repofile", in: mechanism},
	{pkg: "internal/store", in: mechanism},
	{pkg: "internal/worktree", in: mechanism},
	{pkg: "sandbox", in: mechanism},
	{pkg: "settings", in: mechanism},
	{pkg: "clientsetup", in: mechanism},

	{pkg: "frontend", in: leaf}, // the built page, as files
	{pkg: "internal/api", in: leaf},
	{pkg: "internal/atomicfile", in: leaf},
	{pkg: "internal/boottime", in: leaf},
	{pkg: "internal/childproc", in: leaf},
	{pkg: "internal/datadir", in: leaf},
	{pkg: "internal/editor", in: leaf},
	{pkg: "internal/fault", in: leaf},
	{pkg: "internal/near", in: leaf},
	{pkg: "internal/link", in: leaf},
	{pkg: "internal/netgroup", in: leaf},
	{pkg: "internal/ids", in: leaf},
	{pkg: "internal/inlet", in: leaf},
	{pkg: "internal/release", in: leaf},
	{pkg: "internal/remote", in: leaf},
	{pkg: "internal/repofind", in: leaf},
	{pkg: "internal/secret", in: leaf},
	{pkg: "internal/selfcert", in: leaf},
	{pkg: "internal/selfrun", in: leaf},
	{pkg: "internal/theme", in: leaf},
	{pkg: "internal/shellenv", in: leaf},
	{pkg: "internal/tomledit", in: leaf},
	{pkg: "internal/when", in: leaf},
	{pkg: "sandbox/cage", in: leaf}, // like the next ones a part of sandbox; main asks it first whether it is a helper
	{pkg: "sandbox/cage/inside", in: leaf},
	{pkg: "sandbox/cage/wire", in: leaf},
	{pkg: "sandbox/hosts", in: leaf},
	{pkg: "sandbox/proxy", in: leaf}, // a part of sandbox, which alone may know the others
	{pkg: "sandbox/registry", in: leaf},
	{pkg: "sandbox/seatbelt", in: leaf},

	{pkg: "bench", in: kit},
	{pkg: "bench/window/bare", in: kit},      // a window without Termic, as a peer
	{pkg: "build/appimage/runtime", in: kit}, // the head of an AppImage: shipped, and apart from the app in it
	{pkg: "build/appimage/seal", in: kit},
	{pkg: "build/appimage/squash", in: kit},
	{pkg: "build/linux", in: kit},
	{pkg: "build/mutate", in: kit}, // what the tests would not notice
	{pkg: "build/sbom", in: kit},   // what is in the packages
	{pkg: "build/setup", in: kit},
	{pkg: "build/site", in: kit}, // the pages as one site
	{pkg: "internal/archtest", in: kit},
	{pkg: "internal/e2e", in: kit},
	{pkg: "internal/e2eclients", in: kit},
	{pkg: "internal/fakeagent", in: kit},
	{pkg: "internal/fakemodel", in: kit},
	{pkg: "internal/fakemodel/cmd", in: kit},
	{pkg: "internal/verb/gen", in: kit},
	{pkg: "sandbox/attack", in: kit},
}

// An edge is a forbidden import that its layers alone would not catch, or whose reason deserves words
// of its own. A from or to that ends in "/" stands for everything below it.
type edge struct{ from, to, why string }

// edges are checked in files that are not tests. to may be a package of ours or of anybody's.
var edges = []edge{
	{"mcp", "os/exec", "the MCP endpoint acts through the dispatcher; it never runs a program, least of all our own"},
	{"mcp", "internal/store", "the MCP endpoint reads state through verbs, where a caller's floor is checked"},
	{"mcp", "internal/worktree", "the MCP endpoint reaches git through verbs, where a caller's floor is checked"},
	{"mcp", "internal/ptyhost", "the MCP endpoint reaches terminals through verbs, where a caller's floor is checked"},
	{"web", "os/exec", "the browser face acts through the dispatcher; it never runs a program, least of all our own"},
	{"web", "internal/store", "the browser face reads state through verbs, where a caller's floor is checked"},
	{"web", "internal/worktree", "the browser face reaches git through verbs, where a caller's floor is checked"},
	{"web", "internal/ptyhost", "the browser face reaches terminals through verbs, where a caller's floor is checked"},
	{"internal/core", "net/http", "the domain does not know by which road a call came"},
	{"internal/verb", "net/http", "a verb gives the same answer on every face"},
	{"internal/cli", "internal/store", "the CLI speaks to the running app; it never opens the app's files"},
	{"internal/grant", "os/exec", "who may do what is decided by pure rules"},
	{"internal/grant", "net", "who may do what is decided by pure rules"},
}

// runners are the packages that may start other programs. Everybody else asks one of them, so that the
// environment, the descriptors and the end of every child are settled in few places.
var runners = map[string]string{
	"app":                "opens links and editors that the user chose",
	"internal/agent":     "asks an agent for its version",
	"internal/childproc": "the common way to start and to end a child",
	"internal/cli":       "starts the app, an editor or a pager for the person at the terminal",
	"internal/editor":    "editors of the person, which outlive the app",
	"internal/ptyhost":   "children of terminals",
	"internal/shellenv":  "asks the login shell for its environment",
	"internal/worktree":  "the user's git",
	"sandbox":            "caged children",
	"sandbox/cage":       "the first process of a cage",
}
