package app

// slackBytes is how much garbage may lie about before the first collection, beyond what the runtime allows by itself. A resting app
// lives in 1 to 2 MiB, so that by itself it collects after each 2 or 3 MiB: a hundred times a second under a stream of calls, which takes
// an eighth of the processor. The price is up to 8 MiB of memory that is resident once an app has been busy.
const slackBytes = 8 << 20

// slack is memory that nobody writes to, so that it is never resident. The runtime counts it as living, and collects when the heap is
// twice that. A percentage (GOGC) would do the same for a resting app, but would take four times the memory where 200 terminals are open.
type slack []byte

func newSlack() slack { return make(slack, slackBytes) }
