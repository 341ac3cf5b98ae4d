package attack

import (
	"path/filepath"
	"strconv"
	"strings"
)

// Ground says where things lie on the machine that is attacked. It is handed to the program in the cage, so it names
// places and never holds a secret.
type Ground struct {
	Home      string // the user's real home
	DataDir   string // the app's data folder, somewhere below Home
	Token     string // file with the app's own token
	Control   string // the app's control socket
	OtherHome string // private home of another task

	Repo       string // the main checkout
	Common     string // its .git
	Worktree   string // the task's worktree: the cage may write here
	Admin      string // .git/worktrees/<own>
	Other      string // another task's worktree
	OtherAdmin string // .git/worktrees/<other>

	Outside  string // a folder of the user with one folder per probe in it, see Spot
	Tool     string // a folder of the user that cages may read: programs
	Runtime  string // the user's runtime folder, with sockets of the desktop
	Shared   string // base name of the secrets in /tmp, /var/tmp and /dev/shm
	Alias    string // a second mount of Home; empty = root did not prepare one
	Setuid   string // a program in a granted folder that changes the user id; empty = root did not prepare one
	FileCaps string // a program whose file has a capability, beside it
	Fired    string // folder in which a planted command leaves a file named after its probe
	Handle   string // file handle of a secret, as type:hex, for open_by_handle_at

	Victim int    // process outside, of the same user, with the secret in environment, arguments and descriptor VictimFD
	PidOne int    // the cage's init as the cage sees it; uncaged, a process that may be ended
	Pty    string // a terminal of somebody else
	ShmKey int    // System V shared memory that holds the secret
	MsgKey int    // System V message queue with the secret in it

	Daemon        string // socket of an uncaged agent's daemon, in a folder that only the wide cage grants
	Abstract      string // abstract stream socket outside
	AbstractDgram string // abstract datagram socket outside
	AbstractX11   string // stand-in for the abstract socket of an X server
	OptSocket     string // a socket below /opt that root made; empty = root did not prepare one
	EtcSecret     string // a file in /etc that root made for the user's group alone; empty = root did not prepare one
	SysSocket     string // a socket below /run that root made; empty = root did not prepare one

	MCPPort   int    // the app's endpoint, on 127.0.0.1
	OtherPort int    // some other service on 127.0.0.1, 127.0.0.2, ::1 and the host's own address
	UDPPort   int    // datagram service, same addresses
	DNSPort   int    // name server on 127.0.0.1
	Host      string // an address of the host that is not loopback; empty = it has none
	Link      string // name of a network interface of the host that is not loopback; empty = it has none
	Inbound   int    // a port that the host will try to reach in the cage

	NeighbourPort     int    // port on which the program in another cage listens
	NeighbourAbstract string // its abstract socket

	MaxProcs, MaxFiles, MaxMemory int64 // the limits that are set; 0 = not limited
}

// VictimFD is the descriptor of the outside process that is open on a secret.
const VictimFD = 5

// Spot is the folder outside that is one probe's alone; a file named secret is in it.
func (g Ground) Spot(name string) string { return filepath.Join(g.Outside, flat(name)) }

// Secret is the file with the secret that is one probe's alone.
func (g Ground) Secret(name string) string { return filepath.Join(g.Spot(name), "secret") }

// In is a path in the worktree that is one probe's alone.
func (g Ground) In(name string) string { return filepath.Join(g.Worktree, flat(name)) }

// Mark is the file that a command planted by the probe leaves behind when it runs.
func (g Ground) Mark(name string) string { return filepath.Join(g.Fired, flat(name)) }

// Fire is a shell command that leaves the probe's mark.
func (g Ground) Fire(name string) string { return "touch " + g.Mark(name) }

// Loopback is the address of a port on 127.0.0.1.
func Loopback(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

func flat(name string) string { return strings.ReplaceAll(name, "/", "-") }
