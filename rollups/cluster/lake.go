// Package cluster has the rollups as SQL that other engines run over a lake of facts, and reads the
// manifests of lakes and of rollups computed from them.
package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"pmx/data"
	"pmx/engine/export"
)

// CurrentName is the file in a folder that names the current manifest. It is replaced last.
const CurrentName = "CURRENT"

// Lake is the manifest of a lake: the list of its files. Equal facts, and equal settings, give the
// same bytes.
type Lake struct {
	Generator string            `json:"generator"`
	Kind      string            `json:"kind"`
	Version   int               `json:"lake_version"`
	Method    string            `json:"method"`
	AsOf      int64             `json:"as_of"` // of the newest fill, unix µs
	WhaleMin  int64             `json:"whale_min_usd"`
	Fills     int64             `json:"fills"`
	Files     []export.LakeFile `json:"files"`
}

const (
	generator = "pmx"
	lakeKind  = "lake"
)

// NewLake makes the manifest of files at the moment of head.
func NewLake(head export.LakeHead, files []export.LakeFile) *Lake {
	m := &Lake{Generator: generator, Kind: lakeKind, Version: export.LakeVersion, Method: export.Method, AsOf: head.AsOf, WhaleMin: head.WhaleMin,
		Files: slices.Clone(files)}
	slices.SortFunc(m.Files, func(a, b export.LakeFile) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range m.Files {
		if f.Dataset == "fills" {
			m.Fills += f.Rows
		}
	}
	return m
}

// Encode returns the text of the manifest and its name below the folder of the lake, which includes
// the SHA-256 of the text.
func (m *Lake) Encode() (name string, text []byte, err error) {
	text, err = json.MarshalIndent(m, "", " ")
	if err != nil {
		return "", nil, err
	}
	text = append(text, '\n')
	sum := sha256.Sum256(text)
	return ManifestName(hex.EncodeToString(sum[:])), text, nil
}

// ManifestName is the path of the manifest with a SHA-256.
func ManifestName(sum string) string { return "manifests/" + sum + ".json" }

// ReadLake returns the manifest that CURRENT names and its SHA-256; nil if the folder has none.
func ReadLake(dir string) (m *Lake, id string, err error) {
	m = &Lake{}
	id, err = readManifest(dir, m)
	if errors.Is(err, fs.ErrNotExist) && id == "" {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	return m, id, m.check(dir)
}

// ReadLakeOf returns the manifest with a SHA-256, whatever CURRENT names by now.
func ReadLakeOf(dir, id string) (*Lake, error) {
	m := &Lake{}
	err := readManifestOf(dir, id, m)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not the lake that was pulled from, or has moved on by more than one export: its manifest %s is not there", dir, id)
	}
	if err != nil {
		return nil, err
	}
	return m, m.check(dir)
}

// check checks that it is the manifest of a lake, and that all names are within the folder.
func (m *Lake) check(dir string) error {
	if m.Generator != generator || m.Kind != lakeKind {
		return fmt.Errorf("%s is not a lake of pmx", dir)
	}
	if _, err := m.Blocks(); err != nil {
		return fmt.Errorf("the manifest of %s: %w", dir, err)
	}
	return checkNames(dir, m.Files)
}

// Block is a block of days whose fills a lake also has by the first digits of the address, or by the last digits of the
// token id.
type Block struct {
	First           int64 // day since 1970
	Wallets, Tokens []export.LakeFile
}

// shardKinds are how the addresses in a shard begin, and how the token ids in it end, by the dataset.
var shardKinds = map[string]shardKind{
	export.WalletShards: {regexp.MustCompile(fmt.Sprintf("^0x[0-9a-f]{0,%d}$", export.ShardDigits)), "wallets", "addresses with", "0x and "},
	export.TokenShards:  {regexp.MustCompile(fmt.Sprintf("^[0-9]{0,%d}$", export.ShardDigits)), "tokens", "token ids with", ""},
}

type shardKind struct {
	key              *regexp.Regexp
	what, with, form string // in messages
}

// Blocks returns the blocks of a lake, by their first days. The prefixes of a block's shards by wallet are distinct and of
// one length, so that no wallet is in two of them, and together the shards have as many fills as the days: a wallet without
// a shard has no fills. The same holds for the suffixes of its shards by token.
func (m *Lake) Blocks() (map[int64]Block, error) {
	blocks := map[int64]Block{}
	type set struct {
		dataset string
		first   int64
	}
	rows, days := map[set]int64{}, map[int64]int64{}
	for _, f := range m.Files {
		kind, ok := shardKinds[f.Dataset]
		if !ok {
			continue
		}
		date, err := time.Parse(time.DateOnly, f.From)
		first := date.Unix() / 86_400
		if err != nil || first%export.ShardDays != 0 {
			return nil, fmt.Errorf("%s belongs to no block of days", f.Name)
		}
		b := blocks[first]
		b.First = first
		shards := &b.Wallets
		if f.Dataset == export.TokenShards {
			shards = &b.Tokens
		}
		if !kind.key.MatchString(shardKey(f)) {
			return nil, fmt.Errorf("%s is of %s %q, which is not %s%d digits at most", f.Name, kind.with, shardKey(f), kind.form, export.ShardDigits)
		}
		for _, s := range *shards {
			if shardKey(s) == shardKey(f) || len(shardKey(s)) != len(shardKey(f)) {
				return nil, fmt.Errorf("%s and %s overlap: both have %s", s.Name, f.Name, kind.what)
			}
		}
		*shards = append(*shards, f)
		blocks[first] = b
		rows[set{f.Dataset, first}] += f.Rows
	}
	for _, d := range Days(m.Files) {
		first, _ := export.ShardBlock(d.Day, d.Day)
		days[first] += d.Fills
	}
	for s, n := range rows {
		if n != days[s.first] {
			return nil, fmt.Errorf("the %s of the days from %s on differ from these days: they have %d more fills", s.dataset, time.Unix(s.first*86_400, 0).UTC().Format(time.DateOnly), n-days[s.first])
		}
	}
	return blocks, nil
}

// shardKey is what the addresses or token ids of a shard have in common.
func shardKey(f export.LakeFile) string {
	if f.Dataset == export.TokenShards {
		return f.Suffix
	}
	return f.Prefix
}

// readManifest reads the manifest that CURRENT names, and checks it against its name. Without a
// CURRENT the id is "".
func readManifest(dir string, into any) (id string, err error) {
	current, err := data.ReadRegular(filepath.Join(dir, CurrentName))
	if err != nil {
		return "", err
	}
	id = strings.TrimSpace(string(current))
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != sha256.Size {
		return "", fmt.Errorf("%s in %s names no manifest", CurrentName, dir)
	}
	return id, readManifestOf(dir, id, into)
}

// readManifestOf reads the manifest with a SHA-256, and checks it against that.
func readManifestOf(dir, id string, into any) error {
	text, err := data.ReadRegular(filepath.Join(dir, filepath.FromSlash(ManifestName(id))))
	if err != nil {
		return fmt.Errorf("%s lacks its manifest: %w", dir, err)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != id {
		return fmt.Errorf("%s in %s does not match its name: it was changed or cut short", ManifestName(id), dir)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s in %s: %w", ManifestName(id), dir, err)
	}
	return nil
}

func checkNames(dir string, files []export.LakeFile) error {
	for _, f := range files {
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
			return fmt.Errorf("the manifest of %s names %q, which is outside the folder", dir, f.Name)
		}
	}
	return nil
}

// CheckFile compares a file of a folder with its manifest: its size and, if whole, its SHA-256.
func CheckFile(dir string, f export.LakeFile, whole bool) error {
	r, err := data.OpenRegular(filepath.Join(dir, filepath.FromSlash(f.Name)))
	if err != nil {
		return fmt.Errorf("%s lacks a file of its manifest: %w", dir, err)
	}
	size, err := r.Seek(0, io.SeekEnd)
	sum := f.SHA256
	if err == nil && whole && size == f.Bytes {
		if _, err = r.Seek(0, io.SeekStart); err == nil {
			sum, _, err = export.FileSum(r)
		}
	}
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	if size != f.Bytes || sum != f.SHA256 {
		return fmt.Errorf("%s in %s does not match the manifest: it has %d bytes and the SHA-256 %s", f.Name, dir, size, sum)
	}
	return nil
}

// places are where a lake has its files, and where a killed export leaves partial ones.
var places = []string{
	"manifests/*.json", "*/????????????????/*.parquet", "fills/day=*/????????????????/fills.parquet", "shards/from=*/0x*/????????????????/shards.parquet", "token_shards/from=*/ends=*/????????????????/token_shards.parquet",
	"manifests/*.json.part", "*/????????????????/.pmx-*.part", "fills/day=*/????????????????/.pmx-*.part", "shards/from=*/0x*/????????????????/.pmx-*.part", "token_shards/from=*/ends=*/????????????????/.pmx-*.part",
}

// Unnamed returns the files of a lake that are not in keep: only those at a place where a lake has
// files; anything else in the folder is ignored.
func Unnamed(dir string, keep map[string]bool) (names []string, err error) {
	for _, pattern := range places {
		found, err := filepath.Glob(filepath.Join(globSafe(dir), filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return nil, err
			}
			if name = filepath.ToSlash(name); !keep[name] {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// globSafe escapes a folder's name as a glob pattern.
func globSafe(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}
