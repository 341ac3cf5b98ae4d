package wire

import "golang.org/x/sys/unix"

// Rights gives the descriptors in what came along with a packet.
func Rights(oob []byte) ([]int, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var out []int
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			continue // of another type
		}
		out = append(out, fds...)
	}
	return out, nil
}
