package signal

import (
	"bytes"
	"io"
	"testing"
)

// ordinaryText returns what agents write: prose, code, logs and some JSON, about n bytes.
func ordinaryText(n int) []byte {
	const sample = `I looked at the failing test first and then at the code that it covers.

## What I changed

- internal/store/record.go: the record is written with a temporary name and renamed.
- internal/store/record_test.go: a test that fails without it.

` + "```go\n" + `func (s *Store) write(name string, data []byte) error {
	tmp := filepath.Join(s.dir, name+".tmp")
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.Rename(tmp, filepath.Join(s.dir, name))
}
` + "```\n" + `
> The file must never be half written, says the design.

2026-01-02T10:11:12Z INFO  request_id=18f2 GET /v1/tasks 200 12ms <remote 127.0.0.1>
2026-01-02T10:11:13Z WARN  retry in 200ms: connection reset by peer
{"level":"info","ts":1735812672.1,"msg":"compiled","package":"internal/store","ok":true,"tags":["a","b"]}
ok  	example.com/internal/store	0.412s	coverage: 81.2% of statements

---

The tests pass now, and I ran them with the race detector too. Nothing else uses the
old function, so I removed it. One question is left: whether the quota (see QA notes) is
checked before or after the rename; it was after, and I kept that.

`
	return bytes.Repeat([]byte(sample), n/len(sample)+1)
}

func BenchmarkDetect(b *testing.B) {
	text := append(ordinaryText(64<<20), "<!-- WORK_RESULT:passed -->\n"...)
	for _, l := range []DetectOptions{
		{Protocol: AnyProtocol, WorkType: "qa"},
		{Protocol: AnyProtocol, WorkType: "acceptance"},
		{Protocol: WorkResult},
		{Protocol: CompletionBlock},
		{Protocol: WorkerResult},
	} {
		b.Run(string(l.Protocol)+"/"+l.WorkType, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := Detect(io.NopCloser(bytes.NewReader(text)), l)
				if err != nil || r.Outcome == Failed {
					b.Fatal(r, err)
				}
			}
		})
	}
}
