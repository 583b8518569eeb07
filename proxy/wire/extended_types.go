package wire

import "strings"

// arrayLookUp is what postgres.js asks for when it connects, its white space as single
// blanks: the types that have arrays, and those.
const arrayLookUp = "select b.oid, b.typarray from pg_catalog.pg_type a left join pg_catalog.pg_type b on b.oid = a.typelem " +
	"where a.typcategory = 'A' group by b.oid, b.typarray order by b.oid"

// answeredTypes gives the answer to a driver's look-up of types, nil for any other text.
func answeredTypes(text string) *answer {
	const longest = 2 * len(arrayLookUp)
	if len(text) > longest || !strings.Contains(text, "typarray") || strings.Join(strings.Fields(text), " ") != arrayLookUp {
		return nil
	}
	return &answer{columns: []column{{"oid", oidType}, {"typarray", oidType}}, table: arrayTypes[:]}
}

// arrayTypes are the OIDs of built-in types and of their arrays, those that are fixed
// (Postgres' source, src/include/catalog/pg_type.dat).
var arrayTypes = [...][2]uint32{
	{16, 1000}, {17, 1001}, {18, 1002}, {19, 1003}, {20, 1016}, {21, 1005}, {22, 1006}, {23, 1007}, {24, 1008}, {25, 1009},
	{26, 1028}, {27, 1010}, {28, 1011}, {29, 1012}, {30, 1013}, {114, 199}, {142, 143},
	{600, 1017}, {601, 1018}, {602, 1019}, {603, 1020}, {604, 1027}, {628, 629}, {650, 651},
	{700, 1021}, {701, 1022}, {718, 719}, {774, 775}, {790, 791}, {829, 1040}, {869, 1041},
	{1033, 1034}, {1042, 1014}, {1043, 1015}, {1082, 1182}, {1083, 1183}, {1114, 1115}, {1184, 1185}, {1186, 1187},
	{1266, 1270}, {1560, 1561}, {1562, 1563}, {1700, 1231}, {1790, 2201},
	{2202, 2207}, {2203, 2208}, {2204, 2209}, {2205, 2210}, {2206, 2211}, {2275, 1263}, {2950, 2951}, {2970, 2949},
	{3220, 3221}, {3614, 3643}, {3615, 3645}, {3642, 3644}, {3734, 3735}, {3769, 3770}, {3802, 3807},
	{3904, 3905}, {3906, 3907}, {3908, 3909}, {3910, 3911}, {3912, 3913}, {3926, 3927},
	{4072, 4073}, {4089, 4090}, {4096, 4097}, {4191, 4192},
	{4451, 6150}, {4532, 6151}, {4533, 6152}, {4534, 6153}, {4535, 6155}, {4536, 6157}, {5038, 5039}, {5069, 271},
}
