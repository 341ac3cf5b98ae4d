package agenthome

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"

	"termic/internal/fault"
)

// Options say whose home is made. All paths are absolute.
type Options struct {
	Agent    string // id of the recipe: claude, codex, ...; one that is not known gets git's identity alone
	RealHome string // the user's own home folder
	Home     string // the private folder, on the host; its parent exists and is nobody's but ours
	// Inside is what $HOME is for the agent: RealHome where the private folder is bound onto it, else Home. Empty = Home.
	Inside string
	// Trusted are the folders that the agent shall not ask about, as it sees them: the worktree and the main checkout.
	Trusted []string
	// Repo is the main checkout. git's conditional includes are followed as they hold there. Empty = none hold.
	Repo string
	// Env is the environment that the agent would have outside: it says where the user keeps the agents' files.
	Env map[string]string
	// Unasked: the cage is the boundary, so the agent asks for no permissions, and what it would want confirmed about
	// that is answered.
	Unasked bool
	// CopyBack: a login that was refreshed in this home is first taken back (see Return).
	CopyBack bool
	// Git is the program that is asked for the user's identity. Empty = no identity.
	Git string
}

// Prepared is what the start of the agent needs besides the home.
type Prepared struct {
	// Env is set in the agent's environment, over what is there.
	Env map[string]string
	// Unset are names that must not be in the agent's environment: they lead to files outside or run something.
	Unset []string
	// Logins are names of variables that hold the agent's login or choose its model; an allow-list of the environment
	// lets them pass.
	Logins []string
	// Args are put behind the agent's own arguments, so that its own sandbox stands down.
	Args []string
	// Seeded are the files of the home that were written, relative to it, sorted.
	Seeded []string
	// Left says what of the user's set-up is not in the home, one sentence each.
	Left []string
}

// Bounds of what is copied.
const (
	maxConfig = 8 << 20  // bytes of one configuration file of the user's own
	maxLogin  = 64 << 10 // bytes of a file with logins
	maxMemory = 1 << 20  // bytes of one file of memory, a command or a skill
	maxFiles  = 2000     // files of one folder of those
	maxFolder = 32 << 20 // bytes of one folder of those
	maxDepth  = 8        // of one folder of those
)

// recipe is what is known of one agent's files.
type recipe struct {
	// folder is where its files are in a home; find is where the user has them.
	folder string
	find   func(o Options) string
	// env names the variable that moves the folder; empty = none.
	env    string
	logins []string
	args   func(o Options) []string
	seed   func(s *seeding) error
	login  *loginForm
}

// recipes are the agents whose files are known.
func recipes() map[string]recipe {
	return map[string]recipe{
		"claude": claude(), "codex": codex(), "gemini": gemini(), "opencode": opencode(), "copilot": copilot(), "grok": grok(),
	}
}

// seeding is one Prepare under way.
type seeding struct {
	Options
	recipe
	ctx  context.Context
	from string // the user's folder of the agent
	tree *tree
	out  Prepared
}

// Prepare makes the home, or brings one that is there up to date: the user's login, memory, commands and skills are
// copied again, and of what the agent may change itself, such as its model, only what is missing is added. It may be
// called while another agent runs in the same home.
//
// Errors: fault.InvalidArgument (paths), fault.Unavailable (the home cannot be made, or was made unusable from inside;
// removing it helps), fault.Unsupported (this system has no cages). What cannot be read of the user's own files is left
// out and said in Left.
func Prepare(ctx context.Context, o Options) (Prepared, error) {
	if o.Inside == "" {
		o.Inside = o.Home
	}
	for _, p := range append([]string{o.RealHome, o.Home, o.Inside}, o.Trusted...) {
		if !filepath.IsAbs(p) {
			return Prepared{}, fault.New(fault.InvalidArgument, "%q is not an absolute path", p)
		}
	}
	t, err := makeTree(o.Home)
	if err != nil {
		return Prepared{}, homeFault(err)
	}
	defer t.Close()
	s := &seeding{Options: o, ctx: ctx, tree: t, out: Prepared{Env: map[string]string{}}}
	s.environment()
	if err := s.git(); err != nil {
		return Prepared{}, homeFault(err)
	}
	if r, known := recipes()[o.Agent]; known {
		if err := s.agent(r); err != nil {
			return Prepared{}, homeFault(err)
		}
	}
	sort.Strings(s.out.Seeded)
	sort.Strings(s.out.Unset)
	return s.out, nil
}

// homeFault says that a home cannot be used.
func homeFault(err error) error {
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		return err
	}
	return fault.Wrap(err, fault.Unavailable, "The private home of this task cannot be prepared").
		WithHint("What is in it may have been made unreadable by the agent. Removing the task's home folder in the data folder helps; its conversations there are lost.")
}

// agent seeds the files of one agent.
func (s *seeding) agent(r recipe) error {
	s.recipe, s.from = r, r.find(s.Options)
	s.out.Logins = append(s.out.Logins, r.logins...)
	if r.env != "" {
		s.out.Env[r.env] = filepath.Join(s.Inside, r.folder)
	}
	if r.args != nil {
		s.out.Args = r.args(s.Options)
	}
	if err := s.tree.mkdir(r.folder); err != nil {
		return err
	}
	if r.login != nil {
		if err := s.seedLogin(); err != nil {
			return fmt.Errorf("login: %w", err)
		}
	}
	return r.seed(s)
}

// environment points whatever moves files of programs into the home, and takes away what runs programs of the user's.
func (s *seeding) environment() {
	for name, rel := range map[string]string{"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share",
		"XDG_STATE_HOME": ".local/state", "XDG_CACHE_HOME": ".cache"} {
		s.out.Env[name] = filepath.Join(s.Inside, rel)
	}
	s.out.Env["HOME"] = s.Inside
	s.out.Unset = append(s.out.Unset, "BASH_ENV", "ENV", "ZDOTDIR", "PROMPT_COMMAND", "XDG_RUNTIME_DIR", "SSH_ASKPASS", "PYTHONSTARTUP")
	for _, r := range recipes() {
		if r.env != "" && s.Env[r.env] != "" {
			s.out.Unset = append(s.out.Unset, r.env)
		}
	}
	s.out.Unset = slices.DeleteFunc(s.out.Unset, func(n string) bool { return s.out.Env[n] != "" })
}

// left notes that something of the user's is not in the home.
func (s *seeding) left(format string, args ...any) {
	s.out.Left = append(s.out.Left, fmt.Sprintf(format, args...))
}

// write puts a file into the home and notes it.
func (s *seeding) write(rel string, data []byte, executable bool) error {
	mode := uint32(0o600)
	if executable {
		mode = 0o700
	}
	if err := s.tree.write(rel, data, mode, false); err != nil {
		return fmt.Errorf("write %s: %w", rel, err)
	}
	s.out.Seeded = append(s.out.Seeded, rel)
	return nil
}

// Transcripts are the variables under which internal/agent finds the conversations of agents in a private home, as host
// paths: give it the home as Home and these as Env. What is there was written by a cage: read it as untrusted text.
func Transcripts(home string) map[string]string {
	out := map[string]string{}
	for _, r := range recipes() {
		if r.env != "" {
			out[r.env] = filepath.Join(home, r.folder)
		}
	}
	return out
}
