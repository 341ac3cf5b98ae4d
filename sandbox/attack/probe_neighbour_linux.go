package attack

import (
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// EnvNeighbour holds the secret of a program in another cage.
const EnvNeighbour = "TERMIC_ATTACK_NEIGHBOUR"

// neighbour is the program in another cage: it answers its secret on a port and on an abstract socket, until its
// terminal goes away.
func neighbour(g *Ground) {
	secret := os.Getenv(EnvNeighbour)
	for _, at := range [][2]string{{"tcp", Loopback(g.NeighbourPort)}, {"unix", g.NeighbourAbstract}} {
		l, err := net.Listen(at[0], at[1])
		if err != nil {
			fmt.Println("neighbour:", err)
			os.Exit(1)
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_ = c.SetDeadline(time.Now().Add(netTime))
				_, _ = c.Write([]byte(secret))
				_ = c.Close()
			}
		}()
	}
	printLine(os.Stdout, "ready")
	var b [1]byte
	for {
		if n, err := os.Stdin.Read(b[:]); n == 0 || err != nil {
			return
		}
	}
}

func neighbourProbes() map[string]probe {
	return map[string]probe{
		"neighbour/environ": func(*Ground, string) (string, error) {
			return anyProcess(func(pid int) (string, error) {
				got, err := read(fmt.Sprintf("/proc/%d/environ", pid))
				if i := strings.Index(got, EnvNeighbour+"="); i >= 0 {
					return got[i:], nil
				}
				return "", errorsOr(err, errGone)
			})
		},
		"neighbour/abstract": dialsUnix(unix.SOCK_STREAM, func(g *Ground, _ string) string { return g.NeighbourAbstract }),
		"neighbour/port":     dialsTCP("127.0.0.1", func(g *Ground) int { return g.NeighbourPort }),
		"neighbour/home":     plant(func(g *Ground, _ string) string { return g.OtherHome + "/planted" }),
	}
}

func errorsOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
