package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// What linux/unix_diag.h and linux/sock_diag.h say.
const (
	diagShowName, diagShowVFS = 1, 2 // UDIAG_SHOW_NAME, UDIAG_SHOW_VFS
	diagName, diagVFS         = 0, 1 // UNIX_DIAG_NAME, UNIX_DIAG_VFS
	diagRequestSize           = 24   // struct unix_diag_req
	diagMessageSize           = 16   // struct unix_diag_msg
	attrHeader                = 4    // struct nlattr
)

// boundSockets asks the kernel for all unix sockets that have a file.
func boundSockets() ([]boundSocket, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf("socket diagnostics: %w", err)
	}
	defer unix.Close(fd)
	req := make([]byte, unix.SizeofNlMsghdr+diagRequestSize)
	ne := binary.NativeEndian
	ne.PutUint32(req[0:], uint32(len(req)))
	ne.PutUint16(req[4:], unix.SOCK_DIAG_BY_FAMILY)
	ne.PutUint16(req[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	body := req[unix.SizeofNlMsghdr:]
	body[0] = unix.AF_UNIX
	ne.PutUint32(body[4:], ^uint32(0)) // in every state
	ne.PutUint32(body[12:], diagShowName|diagShowVFS)
	if err := unix.Sendto(fd, req, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, fmt.Errorf("socket diagnostics: ask: %w", err)
	}
	var out []boundSocket
	buf := make([]byte, 64<<10)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("socket diagnostics: answer: %w", err)
		}
		messages, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			return nil, fmt.Errorf("socket diagnostics: answer: %w", err)
		}
		for _, m := range messages {
			switch m.Header.Type {
			case unix.NLMSG_DONE:
				return out, nil
			case unix.NLMSG_ERROR:
				return nil, errors.New("socket diagnostics: refused")
			}
			if s, ok := parseBound(m.Data); ok {
				out = append(out, s)
			}
		}
	}
}

// parseBound reads one unix_diag_msg with its attributes; false for a socket without a file.
func parseBound(data []byte) (s boundSocket, ok bool) {
	if len(data) < diagMessageSize {
		return s, false
	}
	ne := binary.NativeEndian
	for data = data[diagMessageSize:]; len(data) >= attrHeader; {
		size := int(ne.Uint16(data))
		if size < attrHeader || size > len(data) {
			break
		}
		value := data[attrHeader:size]
		switch ne.Uint16(data[2:]) {
		case diagName:
			s.name = string(bytes.TrimRight(value, "\x00"))
		case diagVFS:
			if len(value) >= 8 {
				s.ino, s.dev, ok = ne.Uint32(value), uint64(ne.Uint32(value[4:])), true
			}
		}
		data = data[min(len(data), (size+3)&^3):]
	}
	return s, ok
}

func inode(st fs.FileInfo) uint64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return sys.Ino
	}
	return 0
}

// parseDevice reads major:minor.
func parseDevice(text string) (uint64, bool) {
	major, minor, ok := strings.Cut(text, ":")
	a, errA := strconv.ParseUint(major, 10, 32)
	b, errB := strconv.ParseUint(minor, 10, 32)
	return a<<20 | b, ok && errA == nil && errB == nil
}

// unescapeMount undoes the octal of mountinfo.
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
