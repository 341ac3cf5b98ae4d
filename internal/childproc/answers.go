package childproc

import (
	"context"
	"os"
	"time"

	"termic/internal/fault"
)

// dirTime is how long the folder of a program may take to be looked at before it is started there: a disk that sleeps wakes up within.
const dirTime = 5 * time.Second

// answers refuses to start a program in a folder whose file system gives no answer, such as that of a server that is away. The start of a program
// goes through the folder before the program is there and can be ended; nothing ends that, and meanwhile no other program of this
// process can be started. The look goes on in a goroutine that ends with the answer.
func answers(ctx context.Context, dir string) error {
	if dir == "" {
		return nil
	}
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		_, _ = os.Stat(dir) // what is wrong with it, the start says
	}()
	timer := time.NewTimer(dirTime)
	defer timer.Stop()
	select {
	case <-looked:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
	}
	return fault.New(fault.Unavailable, "The folder %s gives no answer", dir).WithHint("It is on another machine, perhaps, which is away. Ask again when it is back.")
}
