package sandbox

import (
	"math"

	"golang.org/x/sys/unix"
)

// tmpShare is the part of the machine's memory that each of a cage's three private temporary file systems may fill: half
// of it together, which is what the kernel would give to each one. What fills them is not freed by ending programs.
const tmpShare = 6

// tmpBytes bounds each private temporary file system of a cage whose memory is limited to so many bytes; 0 = not limited.
func tmpBytes(memory int64) int64 {
	most := int64(math.MaxInt64)
	if all := MachineMemory(); all > 0 {
		most = all / tmpShare
	}
	if memory > 0 {
		return min(memory/2, most) // so that a full one is an error, not the end of the programs
	}
	if most == math.MaxInt64 {
		return 0 // the machine does not tell: what the kernel takes
	}
	return most
}

// MachineMemory is the memory of this machine in bytes; 0 where it cannot be told.
func MachineMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit))
}
