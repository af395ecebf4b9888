package export

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	parquetMagic = "PAR1"
	// footerEnd is the length of the footer and the closing magic.
	footerEnd = 8
)

// errParquet is returned for a file that is not a complete Parquet file.
var errParquet = errors.New("not a complete Parquet file")

// parquetJoiner joins Parquet files with the same schema: their row groups are copied unchanged,
// one after another, and followed by a footer for all of them.
// https://parquet.apache.org/docs/file-format/
type parquetJoiner struct {
	out    *outputFile
	meta   [][2]string
	sorted []format.SortingColumn // columns counted as leaves
	footer format.FileMetaData
}

func (j *parquetJoiner) add(path string, first bool) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	footer, end, err := readFooter(f)
	if err != nil {
		return err
	}
	if first {
		j.footer = format.FileMetaData{Version: footer.Version, Schema: footer.Schema, CreatedBy: footer.CreatedBy, ColumnOrders: footer.ColumnOrders}
		if _, err := io.WriteString(j.out, parquetMagic); err != nil {
			return err
		}
	} else if !reflect.DeepEqual(footer.Schema, j.footer.Schema) {
		return fmt.Errorf("join Parquet: the schema changed between steps: %v, %v", j.footer.Schema, footer.Schema)
	}
	shift := j.out.size - int64(len(parquetMagic))
	if _, err := io.CopyBuffer(j.out, io.NewSectionReader(f, int64(len(parquetMagic)), end-int64(len(parquetMagic))), make([]byte, 1<<20)); err != nil {
		return err
	}
	for _, group := range footer.RowGroups {
		j.take(group, shift)
	}
	return nil
}

// take adds a row group whose offsets change by shift bytes.
func (j *parquetJoiner) take(group format.RowGroup, shift int64) {
	if group.NumRows == 0 {
		return
	}
	move := func(offset *int64) {
		if *offset != 0 { // 0: none
			*offset += shift
		}
	}
	move(&group.FileOffset)
	for i := range group.Columns {
		c := &group.Columns[i]
		for _, offset := range []*int64{&c.FileOffset, &c.OffsetIndexOffset, &c.ColumnIndexOffset, &c.MetaData.DataPageOffset,
			&c.MetaData.IndexPageOffset, &c.MetaData.DictionaryPageOffset, &c.MetaData.BloomFilterOffset} {
			move(offset)
		}
	}
	group.Ordinal = int16(len(j.footer.RowGroups))
	group.SortingColumns = j.sorted
	j.footer.RowGroups = append(j.footer.RowGroups, group)
	j.footer.NumRows += group.NumRows
}

func (j *parquetJoiner) finish() error {
	for _, pair := range j.meta {
		j.footer.KeyValueMetadata = append(j.footer.KeyValueMetadata, format.KeyValue{Key: pair[0], Value: pair[1]})
	}
	text, err := thrift.Marshal(new(thrift.CompactProtocol), j.footer)
	if err != nil {
		return fmt.Errorf("join Parquet: %w", err)
	}
	text = binary.LittleEndian.AppendUint32(text, uint32(len(text)))
	_, err = j.out.Write(append(text, parquetMagic...))
	return err
}

// readFooter returns the footer of a Parquet file and its offset.
func readFooter(f *os.File) (footer format.FileMetaData, start int64, err error) {
	st, err := f.Stat()
	if err != nil {
		return footer, 0, err
	}
	var end [footerEnd]byte
	if st.Size() < int64(len(parquetMagic)+footerEnd) {
		return footer, 0, errParquet
	}
	if _, err := f.ReadAt(end[:], st.Size()-footerEnd); err != nil {
		return footer, 0, err
	}
	start = st.Size() - footerEnd - int64(binary.LittleEndian.Uint32(end[:4]))
	if string(end[4:]) != parquetMagic || start < int64(len(parquetMagic)) {
		return footer, 0, errParquet
	}
	text := make([]byte, st.Size()-footerEnd-start)
	if _, err := f.ReadAt(text, start); err != nil {
		return footer, 0, err
	}
	err = thrift.Unmarshal(new(thrift.CompactProtocol), text, &footer)
	return footer, start, err
}

// sortedBy returns the dataset's order as in Parquet's metadata, by index of the leaf columns; a
// list has one leaf, too.
func (d dataset) sortedBy() []format.SortingColumn {
	var sorted []format.SortingColumn
	for _, k := range d.order {
		i := slices.IndexFunc(d.columns, func(c column) bool { return c.name == k.column })
		if i < 0 {
			break // the tie-breaker is not in the file
		}
		sorted = append(sorted, format.SortingColumn{ColumnIdx: int32(i), Descending: k.descending})
	}
	return sorted
}
