//go:build linux && !amd64

package attack

func kernelI386() (string, error)  { return "", errNot }
func i386Unshare() (string, error) { return "", errNot }
