package attack

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ring is just enough of an io_uring to open and read one file.
type ring struct {
	fd     int
	sq, cq []byte
	sqes   []byte
	params ringParams
}

// ringParams is struct io_uring_params; only what is needed has a name.
type ringParams struct {
	sqEntries, cqEntries, _, _, _, _, _    uint32
	_                                      [3]uint32
	_, sqTail, sqMask, _, _, _, sqArray, _ uint32
	_                                      uint64
	cqHead, _, cqMask, _, _, cqes, _, _    uint32
	_                                      uint64
}

type ringEntry struct {
	op, flags    uint8
	prio         uint16
	fd           int32
	off, addr    uint64
	length, open uint32
	user         uint64
	_            [3]uint64
}

const (
	ringOpenAt = 18
	ringReadOp = 22
	ringSQ     = 0
	ringCQ     = 0x8000000
	ringSQEs   = 0x10000000
)

func newRing() (*ring, error) {
	var r ring
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 4, ptr(&r.params), 0)
	if errno != 0 {
		return nil, fmt.Errorf("io_uring_setup: %w", errno)
	}
	r.fd = int(fd)
	return &r, nil
}

func (r *ring) mapAll() error {
	p, prot := r.params, unix.PROT_READ|unix.PROT_WRITE
	var errs [3]error
	r.sq, errs[0] = unix.Mmap(r.fd, ringSQ, int(p.sqArray+p.sqEntries*4), prot, unix.MAP_SHARED)
	r.cq, errs[1] = unix.Mmap(r.fd, ringCQ, int(p.cqes+p.cqEntries*16), prot, unix.MAP_SHARED)
	r.sqes, errs[2] = unix.Mmap(r.fd, ringSQEs, int(p.sqEntries)*int(unsafe.Sizeof(ringEntry{})), prot, unix.MAP_SHARED)
	return errors.Join(errs[:]...)
}

// do runs one entry and returns its result.
func (r *ring) do(e ringEntry) (int32, error) {
	*(*ringEntry)(unsafe.Pointer(&r.sqes[0])) = e
	tail := (*uint32)(unsafe.Pointer(&r.sq[r.params.sqTail]))
	mask := *(*uint32)(unsafe.Pointer(&r.sq[r.params.sqMask]))
	*(*uint32)(unsafe.Pointer(&r.sq[r.params.sqArray+(*tail&mask)*4])) = 0
	atomic.AddUint32(tail, 1)
	if _, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), 1, 1, 1, 0, 0); errno != 0 {
		return 0, errno
	}
	head := (*uint32)(unsafe.Pointer(&r.cq[r.params.cqHead]))
	cmask := *(*uint32)(unsafe.Pointer(&r.cq[r.params.cqMask]))
	res := *(*int32)(unsafe.Pointer(&r.cq[r.params.cqes+(*head&cmask)*16+8]))
	atomic.AddUint32(head, 1)
	if res < 0 {
		return 0, unix.Errno(-res)
	}
	return res, nil
}

func (r *ring) read(path string) (string, error) {
	if err := r.mapAll(); err != nil {
		return "", err
	}
	name := append([]byte(path), 0)
	fd, err := r.do(ringEntry{op: ringOpenAt, fd: unix.AT_FDCWD, addr: uint64(ptr(&name[0])), open: unix.O_RDONLY})
	if err != nil {
		return "", fmt.Errorf("open: %w", err)
	}
	buf := make([]byte, 256)
	n, err := r.do(ringEntry{op: ringReadOp, fd: fd, addr: uint64(ptr(&buf[0])), length: uint32(len(buf))})
	return string(buf[:max(n, 0)]), err
}
