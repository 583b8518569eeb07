package sqltree
import "testing"
func TestZZNum(t *testing.T){ al:="01_.e$+xbo8f'"; var rec func(p string,n int); c:=0
 rec=func(p string,n int){ if n==0 {return}; for i:=range al { q:=p+al[i:i+1]; sameAsPostgres(t,q); c++; rec(q,n-1)}}
 rec("",6); t.Log(c)
 al="'\\EBUn&$a\n-? "; c=0
 rec("",6); t.Log(c)
 al="+-*/?=@>:.(\n"
 rec("",6); t.Log(c)
}
